# Every target is one line over a command that also works where there is no make (README.md, "Windows").
# PYTHON names the Python that makes .venv, ARGS goes to the command: make study PYTHON=python3.12 ARGS="--port 9000"

PYTHON ?= python3
ARGS ?=
unexport PYTHONDONTWRITEBYTECODE # where it is set, the large generated modules are compiled again at every import
.DEFAULT_GOAL := help
.PHONY: study test test-all site lab bench gen clean help

study test test-all site lab bench gen clean help:
	@$(PYTHON) workbook/bootstrap.py $@ $(ARGS)
