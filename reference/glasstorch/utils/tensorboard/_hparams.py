"""How are the settings of a run recorded, so that runs can be compared?

Mirrors: torch/utils/tensorboard/summary.py (hparams)
Differs: a table has one row for each type of a setting.
"""

from __future__ import annotations

import logging
from typing import Any

from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.hparams import metadata
from tensorboard.plugins.hparams.api_pb2 import DataType, Experiment, HParamInfo, MetricInfo, MetricName, Status
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData, SessionEndInfo, SessionStartInfo

from glasstorch._tensor import Tensor
from glasstorch.utils.tensorboard._convert_np import make_np

logger = logging.getLogger(__name__)

# The types of a setting -> the field of its value, and TensorBoard's type. True and False are numbers, as in PyTorch.
FIELDS: tuple[tuple[tuple[type, ...], str, str], ...] = (
    ((int, float), "number_value", "DATA_TYPE_FLOAT64"),
    ((str,), "string_value", "DATA_TYPE_STRING"),
)


def hparams(
    hparam_dict: dict[str, Any] | None = None,
    metric_dict: dict[str, Any] | None = None,
    hparam_domain_discrete: dict[str, list[Any]] | None = None,
) -> tuple[Any, Any, Any]:
    """Three summaries: which settings and metrics there are, the settings of this run, and that the run has ended.

    A setting is a number, a string, a bool, a tensor of one element, or None, which leaves it out.
    `hparam_domain_discrete` lists, for some settings, all values they may have.
    """
    for name, given in (("hparam_dict", hparam_dict), ("metric_dict", metric_dict)):
        if not isinstance(given, dict):
            logger.warning("parameter: %s should be a dictionary, nothing logged.", name)
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    assert hparam_dict is not None
    assert metric_dict is not None
    domains = _checked_domains(hparam_domain_discrete or {}, hparam_dict)
    start, infos = SessionStartInfo(), []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        domain = None
        if isinstance(value, Tensor):
            field, kind, value = "number_value", "DATA_TYPE_FLOAT64", make_np(value).reshape(-1)[0]
        else:
            field, kind = _field_of(name, value)
            if name in domains:
                domain = struct_pb2.ListValue(values=[struct_pb2.Value(**{field: each}) for each in domains[name]])
        setattr(start.hparams[name], field, value)
        infos.append(HParamInfo(name=name, type=DataType.Value(kind), domain_discrete=domain))
    metrics = [MetricInfo(name=MetricName(tag=name)) for name in metric_dict]
    experiment = Experiment(hparam_infos=infos, metric_infos=metrics)
    end = SessionEndInfo(status=Status.Value("STATUS_SUCCESS"))
    return (
        _summary(metadata.EXPERIMENT_TAG, experiment=experiment),
        _summary(metadata.SESSION_START_INFO_TAG, session_start_info=start),
        _summary(metadata.SESSION_END_INFO_TAG, session_end_info=end),
    )


def _checked_domains(domains: Any, settings: dict[str, Any]) -> dict[str, list[Any]]:
    if not isinstance(domains, dict):
        raise TypeError("parameter: hparam_domain_discrete should be a dictionary, nothing logged.")
    for name, values in domains.items():
        if (
            name not in settings
            or not isinstance(values, list)
            or not all(isinstance(value, type(settings[name])) for value in values)
        ):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as hparam_dict[{name}]."
            )
    return domains


def _field_of(name: str, value: object) -> tuple[str, str]:
    for types, field, kind in FIELDS:
        if isinstance(value, types):
            return field, kind
    raise ValueError(
        f"value should be one of int, float, str, bool, or torch.Tensor; got {value!r} of type "
        f"{type(value).__name__} for {name}"
    )


def _summary(tag: str, **content: Any) -> Any:
    data = HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **content).SerializeToString()
    plugin = SummaryMetadata.PluginData(plugin_name=metadata.PLUGIN_NAME, content=data)
    return Summary(value=[Summary.Value(tag=tag, metadata=SummaryMetadata(plugin_data=plugin))])
