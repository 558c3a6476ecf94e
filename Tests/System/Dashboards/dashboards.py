"""dashboards.py METRICS DIRECTORY RULES DASHBOARD…: says what is wrong with the dashboards, and writes their expressions
to panels.yaml and panels-test.yaml in the directory, for promtool.

METRICS is what a gateway has given. Each expression is tried on series with these values.
"""

import json
import re
import sys

from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

NAME = re.compile(r"\b(?:ingestd|node)_[a-z_]+")
# What Grafana puts in the place of its variables.
VARIABLES = {"$__rate_interval": "5m", "$instance": "box"}
# What node_exporter and Prometheus give beside the gateway's metrics.
OTHERS = {"node_textfile_mtime_seconds": 'node_textfile_mtime_seconds{file="/run/ingestd/metrics.prom"}',
          "ALERTS": 'ALERTS{alertname="IngestdNeedsSomebody",alertstate="firing"}'}
HOURS = 2


def main(metrics, directory, rules, *dashboards):
    plugins.register_default_plugins()
    with open(metrics, encoding="utf-8") as file:
        samples = [line.rsplit(" ", 1) for line in file.read().splitlines() if line and not line.startswith("#")]
    given = {re.match("[a-z_]+", series)[0] for series, _ in samples} | set(OTHERS)
    expressions = {}
    for path in dashboards:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for place in lost(json.loads(text), known(json.loads(text))):
            print(f"{path}: Grafana does not know {place}")
        for problem in layout(json.loads(text)["panels"]):
            print(f"{path}: {problem}")
        expressions |= {f"{path}: {panel['title']}: {target['refId']}": replaced(target["expr"])
                        for panel in json.loads(text)["panels"] for target in panel["targets"]}
    with open(rules, encoding="utf-8") as file:
        alerts = "\n".join(line for line in file if not line.strip().startswith("#"))
    for place, text in {**expressions, rules: alerts}.items():
        for name in sorted(set(NAME.findall(text)) - given):
            print(f"{place}: no gateway gives {name}")
    write(directory, samples, expressions)


def known(dashboard):
    """The dashboard as Grafana's model writes it after it has read it."""
    return json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard)))


def lost(ours, theirs, path=""):
    """Where something of ours is missing, or is otherwise."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            yield from lost(value, theirs.get(key), f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for number, pair in enumerate(zip(ours, theirs)):
            yield from lost(*pair, f"{path}[{number}]")
    elif ours != theirs:
        yield path


def layout(panels):
    """Panels with the same id, beside the grid of 24 columns, or one over the other."""
    taken = {}
    if len({panel["id"] for panel in panels}) != len(panels):
        yield "two panels have one id"
    for panel in panels:
        grid = panel["gridPos"]
        for column in range(grid["x"], grid["x"] + grid["w"]):
            for row in range(grid["y"], grid["y"] + grid["h"]):
                other = taken.setdefault((column, row), panel["title"])
                if other != panel["title"] or column >= 24:
                    yield f"{panel['title']} has no place beside {other}"
                    return


def replaced(expression):
    for variable, value in VARIABLES.items():
        expression = expression.replace(variable, value)
    return expression


def write(directory, samples, expressions):
    """JSON is YAML."""
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(expressions.values())]
    with open(f"{directory}/panels.yaml", "w", encoding="utf-8") as file:
        json.dump({"groups": [{"name": "panels", "rules": rules}]}, file)
    series = [(labelled(series), value) for series, value in samples]
    series += [(labelled(other), "1") for other in OTHERS.values()]
    # An expression that gives nothing is absent.
    tests = [{"expr": f"absent({text})", "eval_time": f"{HOURS}h"} for text in expressions.values()]
    with open(f"{directory}/panels-test.yaml", "w", encoding="utf-8") as file:
        json.dump({"evaluation_interval": "1m", "tests": [{
            "interval": "1m", "promql_expr_test": tests,
            "input_series": [{"series": name, "values": f"{value}x{HOURS * 60}"} for name, value in series]}]}, file)


def labelled(series):
    """A series with the labels that Prometheus adds to what it has got from a box."""
    labels = 'job="node",instance="box"'
    return f"{series[:-1]},{labels}}}" if series.endswith("}") else f"{series}{{{labels}}}"


if __name__ == "__main__":
    main(*sys.argv[1:])
