#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds schemas/ against the documents. Environment: OUTFOX (the program), TOP (the sources).

  sections    the `$comment` of a schema names the section that describes its document. Every field
              and every value of a kind is in it, or in a section that it links to, in backticks;
              and every field in the first cells of its tables is in the schema
  events      each row of the table of events has the fields of the schema of its type
  the list    of schemas in docs/json.md has all that `outfox schema` prints, and no others
  names       no two definitions, or a definition and a file, have the same one; references lead
              somewhere: in the same file, in common.json, or to a file as a whole; all is used

Every failure is a line `file: sentence`, then the exit code is 1. The last line is `checks: N`.
"""
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

TOP = Path(os.environ["TOP"]).resolve()
COMMON = "urn:outfox:schema:common:1#/$defs/"
SCHEMAS = {path.stem: json.loads(path.read_text(encoding="utf-8"))
           for path in sorted((TOP / "schemas").glob("*.json"))}
NAMED = {**SCHEMAS, **{name: part for schema in SCHEMAS.values()
                       for name, part in schema.get("$defs", {}).items()}}
checks, failures = 0, []


def check(good, where, sentence):
    global checks
    checks += 1
    if not good:
        failures.append(f"{where}: {sentence}")
    return good


# ---- documents ----

def anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower().replace("`", "")).strip().replace(" ", "-")


def section(place):
    """The text of docs/NAME.md#anchor, up to the next heading of its level; "": there is none."""
    name, _, wanted = place.partition("#")
    text = (TOP / name).read_text(encoding="utf-8") if (TOP / name).exists() else ""
    for found in re.finditer(r"^(#+) (.*)$", text, re.MULTILINE):
        if anchor(found[2]) == wanted:
            rest = text[found.end():]
            end = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.MULTILINE)
            return rest[:end.start()] if end else rest
    return ""


def linked(place, steps=2):
    """The text of a section, and of those that it links to, in so many steps."""
    text = section(place)
    yield text
    for target in re.findall(r"\]\(([\w./-]*#[\w-]+)\)", text if steps else ""):
        file, _, wanted = target.partition("#")
        yield from linked(f"docs/{file or Path(place.partition('#')[0]).name}#{wanted}", steps - 1)


def quoted(text):
    return set(re.findall(r"`([^`\n]+)`", text))


def rows(text, *heads):
    """The cells of the rows of tables whose first head is one of these."""
    inside = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] in heads:
            inside = True
        elif inside and not set(line) <= set("|- "):
            yield cells


# ---- schemas ----

def parts(name):
    """A schema and every definition that it refers to, by name."""
    found, ahead = {}, [(name, SCHEMAS[name])]
    while ahead:
        owner, part = ahead.pop()
        if owner in found:
            continue
        found[owner] = part
        ahead += [(target, NAMED[target]) for target in map(target_of, refs(part))]
    return found


def target_of(ref):
    """The name of a definition, or of a file as a whole."""
    return ref.rpartition("/")[2] if "#" in ref else ref.split(":")[-2]


def refs(part):
    """References of a schema, without those of the definitions in it."""
    if isinstance(part, dict):
        for key, inner in part.items():
            if key == "$ref":
                yield inner
            elif key != "$defs":
                yield from refs(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from refs(inner)


def fields(part):
    """The fields of a schema, at any level, without those of the definitions in it."""
    out = {}
    if isinstance(part, dict):
        for key, inner in part.items():
            if key == "properties":
                out.update(inner)
            if key != "$defs":
                out.update(fields(inner))
    elif isinstance(part, list):
        for inner in part:
            out.update(fields(inner))
    return out


def values(part):
    """The values of kinds."""
    if isinstance(part, dict):
        for key, inner in part.items():
            if key == "enum":
                yield from (one for one in inner if isinstance(one, str))
            elif key != "$defs":
                yield from values(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from values(inner)


# ---- checks ----

def check_section(place, names):
    """One section describes one document, or a few of one verb."""
    text = section(place)
    if not check(text, place, f"no such section, for the schema {' and '.join(names)}"):
        return
    known = quoted("\n".join(linked(place)))
    all_fields = {}
    for name in names:
        for owner, part in parts(name).items():
            all_fields.update(fields(part))
            for field in fields(part):
                check(field in known, place, f"`{field}` of {owner} is missing")
            for value in values(part):
                check(value in known, place, f"the value `{value}` in {owner} is missing")
    for cells in rows(text, "field", "column"):
        for field in quoted(cells[0]):
            check(field in all_fields, place, f"no field `{field}` in the schema {' or '.join(names)}")


def check_events():
    text = section("docs/json.md#outfox-run---events")
    head = set(fields(SCHEMAS["event"]["$defs"]["event_head"]))
    types = {part["properties"]["type"]["const"]: part
             for part in SCHEMAS["event"]["$defs"].values() if "allOf" in part}
    told = {first: set(re.findall(r"`([\w-]+)`", re.sub(r"\([^)]*\)", "", cells[-1])))
            for cells in rows(text, "type") for first in quoted(cells[0])}
    check(head <= quoted(text), "docs/json.md", f"not all of {sorted(head)} are told of events")
    check(set(told) == set(types), "docs/json.md", f"types of events: {sorted(set(told) ^ set(types))}")
    for name in sorted(set(told) & set(types)):
        has = set(types[name]["properties"]) - {"type"}
        check(told[name] == has, "docs/json.md", f"event `{name}`: {sorted(told[name] ^ has)}")


def check_list():
    said = subprocess.run([os.environ["OUTFOX"], "schema"], capture_output=True, check=False,
                          timeout=60).stdout.decode()
    printed = {line.split()[0] for line in said.splitlines()}
    check(printed == {*SCHEMAS, "config", "openapi", "plan", "trials"} - {"common"}, "outfox schema", f"lists {sorted(printed)}")
    listed = set()
    for cells in rows(section("docs/json.md#schemas"), "document"):
        listed |= quoted(cells[1])
    check(printed == listed, "docs/json.md",
          f"the list of schemas has not, or has too many: {sorted(printed ^ listed)}")


def check_names():
    count = Counter(list(SCHEMAS))
    for name, schema in SCHEMAS.items():
        count.update(list(schema.get("$defs", {})))
        where = f"schemas/{name}.json"
        check(schema.get("$id") == f"urn:outfox:schema:{name}:1", where, f"$id is {schema.get('$id')}")
        for key in ("$schema", "title", "$comment", "description"):
            check(schema.get(key), where, f"no {key}")
        text = json.dumps(schema)
        for ref in set(refs({**schema, "all": schema.get("$defs", {})})):
            target = target_of(ref)
            there = target in schema.get("$defs", {}) if ref == f"#/$defs/{target}" else \
                target in SCHEMAS["common"]["$defs"] if ref == COMMON + target else \
                target in SCHEMAS and ref == f"urn:outfox:schema:{target}:1"
            check(there, where, f"{ref} leads nowhere")
        for target in schema.get("$defs", {}):
            used = f'#/$defs/{target}"' in text if name != "common" else \
                any(f'#/$defs/{target}"' in json.dumps(other) for other in SCHEMAS.values())
            check(used, where, f"nothing refers to {target}")
    for name, n in count.items():
        check(n == 1, "schemas", f"{name} is the name of {n} things")


def main():
    sections = {}
    for name, schema in SCHEMAS.items():
        if name != "common":
            sections.setdefault(schema["$comment"], []).append(name)
    check(len(sections) >= 15, "schemas", f"only {len(sections)} sections")
    for place, names in sections.items():
        check_section(place, names)
    check_events()
    check_list()
    check_names()
    print("\n".join([*failures, f"checks: {checks}"]))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
