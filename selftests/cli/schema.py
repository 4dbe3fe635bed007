#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Hold JSON against klin's schema:  schema.py SCHEMA MISSING FILE...

MISSING names the kinds of objects that could not be made here.

A file has one object, or one a line.  Prints "ok:NAME:" or "bad:NAME:MESSAGE" for each file, and
two more lines: whether some file has each kind, and whether the schema is strict.  In a strict
schema no object may have a member that the schema does not name.
"""
import copy
import json
import os
import sys

import jsonschema


def objects(path):
    """The objects of a file."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    at, decoder = 0, json.JSONDecoder()
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value


def wrong(validator, value):
    """What is wrong with a value, or nothing."""
    error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    return f"{error.json_path}: {error.message[:300]}" if error else ""


def parts(value):
    """All JSON objects within a value, except those whose names are data."""
    if isinstance(value, dict):
        yield value
        for name, member in value.items():
            if name not in ("variables", "values"):
                yield from parts(member)
    elif isinstance(value, list):
        for member in value[:2]:
            yield from parts(member)


def accepted_with_more(validator, value):
    """Objects within a value that may have an unknown member."""
    for part in parts(value):
        part["unheard_of"] = 1
        if not wrong(validator, value):
            yield sorted(part)
        del part["unheard_of"]


def main():
    """Return: the exit status."""
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    validator = kind(schema)
    first = {}
    for path in sys.argv[3:]:
        name = os.path.basename(path)
        try:
            found = list(objects(path))
            message = "" if found else "no object"
            for value in found:
                message = message or wrong(validator, value)
                first.setdefault(value.get("kind"), value)
        except ValueError as error:
            message = str(error)
        print(f"{'bad' if message else 'ok'}:{name}:{message}")
    missing = set(schema["properties"]["kind"]["enum"]) - set(first) - set(sys.argv[2].split())
    print(f"{'bad' if missing else 'ok'}:there is an object of each kind:{sorted(missing)}")
    loose = [more for value in first.values()
             for more in accepted_with_more(validator, copy.deepcopy(value))]
    print(f"{'bad' if loose else 'ok'}:no object may have a member that the schema lacks:{loose[:3]}")


if __name__ == "__main__":
    sys.exit(main())
