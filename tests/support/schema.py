# SPDX-License-Identifier: Apache-2.0
"""Documents held against the JSON Schemas that `outfox schema` prints.

The published schemas are open: objects may have further fields, texts that name a kind further
values. What this very program prints is described in full, so here they are closed (`closed`): a
field or a value that no schema has is a mistake. `Seen` remembers which fields were there, in which
documents, so that a schema cannot promise what nobody has ever seen.
"""
import copy
import json
import os
import subprocess
from collections import Counter
from functools import lru_cache

from jsonschema import Draft202012Validator

OUTFOX = os.environ["OUTFOX"]


@lru_cache(maxsize=None)
def published(name):
    """The schema as the program prints it; it needs no other."""
    done = subprocess.run([OUTFOX, "schema", name], capture_output=True, check=False, timeout=60)
    if done.returncode:
        raise LookupError(done.stderr.decode(errors="replace"))
    return json.loads(done.stdout)


def names():
    """Of the schemas of documents: those of outfox.yaml, plans and trials are for what people write, and openapi is none."""
    done = subprocess.run([OUTFOX, "schema"], capture_output=True, check=True, timeout=60)
    return [line.split()[0] for line in done.stdout.decode().splitlines()
            if line.split()[0] not in ("config", "openapi", "plan", "trials")]


def closed(schema, whole=True):
    """The same without what may be added later. `whole`: what is found here is all of a value, not
    one of several schemas that it must satisfy."""
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    out = {}
    for key, inner in schema.items():
        if key in ("properties", "$defs"):
            out[key] = {name: closed(one, key == "properties") for name, one in inner.items()}
        elif key == "allOf":
            out[key] = [closed(one, False) for one in inner]
        elif key == "anyOf" and any("enum" in one for one in inner):
            out[key] = [one for one in inner if one != {"type": "string"}]
        else:
            out[key] = closed(inner)
    if whole and ("$ref" in schema or "properties" in schema):
        out["unevaluatedProperties"] = False
    return out


@lru_cache(maxsize=None)
def validator(name):
    return Draft202012Validator(closed(published(name)))


def innermost(error):
    """The deepest of the errors behind one: of alternatives, that of the one that was meant."""
    while error.context:
        error = max(error.context, key=lambda one: len(one.absolute_path))
    return error


def wrong(name, document, most=5):
    """What does not hold, in sentences; none: all is well."""
    found = []
    for error in validator(name).iter_errors(document):
        error = innermost(error)
        where = "/".join(map(str, error.absolute_path))
        found.append(f"{name}: /{where}: {error.message[:200]}")
        if len(found) == most:
            break
    return found


# ---- which part of a schema describes which part of a document ----

def fields(schema, root, owner):
    """Of an object: {field: (its schema, is it required, whose it is)}."""
    out = {}
    for part in schema.get("allOf", []):
        out.update(fields(part, root, owner))
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        out.update(fields(root["$defs"][name], root, name))
    for name, inner in schema.get("properties", {}).items():
        if name in out and "const" in inner:  # the type of an event, told once more
            continue
        out[name] = (inner, name in schema.get("required", []), owner)
    return out


def meant(schema, value, root):
    """The alternative that describes this object."""
    choice = [one for one in schema.get("oneOf", schema.get("anyOf"))
              if "$ref" in one or "properties" in one]
    if len(choice) == 1:
        return choice[0]
    for one in choice:
        if Draft202012Validator({**one, "$defs": root["$defs"]}).is_valid(value):
            return one
    return {}


def objects(schema, value, root, owner, path=()):
    """(path, fields) of every object in a document that a schema describes by its fields."""
    if not isinstance(value, (dict, list)):
        return
    if "oneOf" in schema or "anyOf" in schema:
        schema = meant(schema, value, root)
        owner = schema.get("$ref", owner).rpartition("/")[2]
    if isinstance(value, dict):
        known = fields(schema, root, owner)
        if known:
            yield path, known
        for name, (inner, *_) in known.items():
            if name in value:
                yield from objects(inner, value[name], root, owner, (*path, name))
    elif isinstance(value, list) and "items" in schema:
        for i, one in enumerate(value):
            yield from objects(schema["items"], one, root, owner, (*path, i))


def at(document, path):
    for step in path:
        document = document[step]
    return document


class Seen:
    """Which fields of which objects were seen: there, not there, null, another value."""

    def __init__(self):
        self.count = Counter()
        self.required = {}  # (owner, field): is it?
        self.nullable = {}

    def add(self, name, document):
        """Returns how many kinds of objects there are in this document."""
        root, owners = published(name), set()
        for path, known in objects(root, document, root, name):
            value = at(document, path)
            for field, (inner, required, owner) in known.items():
                key = (owner, field)
                owners.add(owner)
                self.required[key] = required
                self.nullable[key] = may_be_null(inner, root)
                self.count[key, "there" if field in value else "absent"] += 1
                if field in value:
                    self.count[key, "null" if value[field] is None else "value"] += 1
        return len(owners)

    def missing(self):
        """(owner, field, what was never seen of it)"""
        for key, required in sorted(self.required.items()):
            kinds = ["value"] + ([] if required else ["absent"])
            kinds += ["null"] if self.nullable[key] else []
            for kind in kinds:
                if not self.count[key, kind]:
                    yield (*key, kind)


def may_be_null(schema, root):
    if "$ref" in schema:
        return may_be_null(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    kind = schema.get("type", [])
    return ("null" in kind if isinstance(kind, list) else kind == "null") \
        or any(may_be_null(one, root) for one in schema.get("anyOf", []))


def without_required(name, document):
    """Copies of a document, each without one field that a schema requires: (owner, field, copy)."""
    root, done = published(name), set()
    for path, known in objects(root, document, root, name):
        for field, (_, required, owner) in known.items():
            if required and (owner, field) not in done:
                done.add((owner, field))
                less = copy.deepcopy(document)
                del at(less, path)[field]
                yield owner, field, less
