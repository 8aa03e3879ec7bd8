"""After the class, floats are compared by their texts, which differ for the two zeros and agree for NaN."""

from glasstorch.compiler.guards import Guards


def equal(self: Guards, source: str, value: object) -> None:
    """Add guards that hold if `source` leads to the same constant as `value`."""
    if value is None or isinstance(value, bool):
        self.add("CONSTANT_MATCH", source, f"{source} is {value!r}")
        return
    self.same_type(source, value)
    if isinstance(value, float | complex):
        self.add("EQUALS_MATCH", source, f"repr({source}) == {repr(value)!r}")
        return
    text = repr(value) if type(value) in (int, str, bytes) else self.name_of(value)
    self.add("EQUALS_MATCH", source, f"{source} == {text}")
