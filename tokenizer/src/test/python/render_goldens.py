#!/usr/bin/env python3
"""Writes goldens.json anew: what Jinja2 gives for each template and conversation beside it.

usage: python3 tokenizer/src/test/python/render_goldens.py     (needs jinja2 3.1; the build never runs this)

The environment is that of transformers' chat templates, with the clock at 2026-01-15 12:34:56. A conversation that a
template refuses has the answer null.
"""
import datetime
import json
import pathlib

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

FOLDER = pathlib.Path(__file__).parents[1] / "resources/dev/warmpath/tokenizer/template/goldens"
NOW = datetime.datetime(2026, 1, 15, 12, 34, 56)


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("same"), [], [], body).set_lineno(line)

    def same(self, caller):
        return caller()


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise TemplateError(message)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = to_json
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


def answer(template, variables):
    try:
        return template.render(variables)
    except Exception:
        return None


def main():
    env = environment()
    conversations = json.loads((FOLDER / "conversations.json").read_text("utf-8"))
    lines = []
    for file in sorted(FOLDER.glob("templates/*.jinja")):
        template = env.from_string(file.read_text("utf-8"))
        for name, variables in conversations.items():
            key = json.dumps(file.stem + " " + name)
            lines.append(key + ": " + json.dumps(answer(template, variables), ensure_ascii=False))
    (FOLDER / "goldens.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
