#!/usr/bin/env python3
# --diagnostics=json and =sarif: one well-formed document on standard error, whatever happens, that
# says the same as the text. Usage: diagnostics.py TANGC
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TANGC = ""
CONFLICT = "input x: f32[8]\ninput w: f32[3]\ny[i] = x[i] * w[i]  # \u03c3\noutput y\n"
SEVERAL = "input x: f32[8]\n# \u00e4\u00e4\ny[i] = expp(x[i])\nz[i] = q[i] * 2.0\noutput y, z\n"
WARNING = "input x: f32[8]\ny[i] = x[i] * (1/2)\noutput y\n"
GOOD = "input x: f32[8]\ny[i] = x[i] * 2.0\noutput y\n"


def tangc(*args, text=None):
    return subprocess.run([TANGC, *args], input=None if text is None else text.encode(),
                          capture_output=True, timeout=60)


def json_of(*args, text=None, status=0):
    done = tangc(*args, "--diagnostics=json", text=text)
    assert done.returncode == status, (done.returncode, done.stderr)
    document = json.loads(done.stderr)
    assert document["version"] == 1 and document["generator"].startswith("tangc ")
    return document


def sarif_of(*args, text=None, status=0):
    done = tangc(*args, "--diagnostics=sarif", text=text)
    assert done.returncode == status, (done.returncode, done.stderr)
    document = json.loads(done.stderr)
    assert document["version"] == "2.1.0" and len(document["runs"]) == 1
    run = document["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("error", "warning") and result["message"]["text"]
    return run


class Json(unittest.TestCase):
    def test_an_error_has_a_place_and_notes(self):
        diagnostic, = json_of("check", "-", text=CONFLICT, status=1)["diagnostics"]
        self.assertEqual(diagnostic["name"], "range-conflict")
        self.assertEqual(diagnostic["severity"], "error")
        place = diagnostic["location"]
        self.assertEqual((place["file"], place["line"]), ("<stdin>", 3))
        shown = CONFLICT.encode()[place["begin"]:place["end"]].decode()
        line = CONFLICT.encode().splitlines()[2]
        self.assertEqual(line[place["column"] - 1:place["end_column"] - 1].decode(), shown)
        self.assertTrue(diagnostic["notes"])
        for note in diagnostic["notes"]:
            self.assertTrue(note["message"])
            self.assertEqual(note["location"]["file"], "<stdin>")

    def test_it_says_what_the_text_says(self):
        said = json_of("check", "-", text=SEVERAL, status=1)["diagnostics"]
        text = tangc("check", "-", text=SEVERAL).stderr.decode()
        self.assertGreaterEqual(len(said), 2)
        for d in said:
            place = d["location"]
            self.assertIn(f"<stdin>:{place['line']}:{place['column']}: {d['severity']}: "
                          f"{d['message']} [{d['name']}]\n", text)
        begins = [d["location"]["begin"] for d in said]
        self.assertEqual(begins, sorted(begins))

    def test_nothing_wrong_is_an_empty_list(self):
        for command in (["check"], ["fmt"], []):
            self.assertEqual(json_of(*command, "-", text=GOOD)["diagnostics"], [])
        ran = json_of("run", "-", "--random", "--device=interp", text=GOOD)
        self.assertEqual(ran["diagnostics"], [])

    def test_standard_output_is_as_without(self):
        for command in (["fmt"], []):
            self.assertEqual(tangc(*command, "-", "--diagnostics=json", text=GOOD).stdout,
                             tangc(*command, "-", text=GOOD).stdout)

    def test_quiet_leaves_warnings_out(self):
        warning, = json_of("check", "-", text=WARNING)["diagnostics"]
        self.assertEqual((warning["severity"], warning["name"]), ("warning", "integer-quotient"))
        self.assertEqual(json_of("check", "-q", "-", text=WARNING)["diagnostics"], [])

    def test_data_that_does_not_fit_has_no_place_but_a_note(self):
        d, = json_of("run", "-", "-i", "x=3", "--device=interp", text=GOOD, status=1)["diagnostics"]
        self.assertEqual(d["name"], "input-shape")
        self.assertNotIn("location", d)
        self.assertEqual(d["notes"][0]["location"]["line"], 1)

    def test_what_stops_a_command_is_the_failure(self):
        for args in (["check", "none.tir"], ["check", "-", "--nonsense"], ["--diagnostics"]):
            document = json_of(*args, status=2)
            self.assertEqual(document["diagnostics"], [])
            self.assertTrue(document["failure"])

    def test_bytes_that_are_no_utf8(self):
        done = subprocess.run([TANGC, "check", "-", "--diagnostics=json"], capture_output=True,
                              input=b"input x\xff: f32[8]\n", timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(json.loads(done.stderr)["diagnostics"][0]["name"], "bad-character")


class Sarif(unittest.TestCase):
    def test_an_error_has_a_location_and_related_ones(self):
        run = sarif_of("check", "-", text=CONFLICT, status=1)
        result, = run["results"]
        self.assertEqual((result["ruleId"], result["level"]), ("range-conflict", "error"))
        place = result["locations"][0]["physicalLocation"]
        self.assertEqual(place["artifactLocation"]["uri"], "%3Cstdin%3E")
        self.assertEqual(place["region"]["startLine"], 3)
        self.assertLess(place["region"]["startColumn"], place["region"]["endColumn"])
        for related in result["relatedLocations"]:
            self.assertTrue(related["message"]["text"])
            self.assertIn("region", related["physicalLocation"])

    def test_columns_are_characters(self):
        self.assertEqual(sarif_of("check", "-", text=GOOD)["columnKind"], "unicodeCodePoints")
        text = "y[i: 4] = \u00d7 + \u00d7\noutput y\n"
        columns = [r["locations"][0]["physicalLocation"]["region"]["startColumn"]
                   for r in sarif_of("check", "-", text=text, status=1)["results"]
                   if r["ruleId"] == "bad-character"]
        self.assertIn(11, columns)
        self.assertTrue(set(columns) <= {11, 15})

    def test_paths_are_uris(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a b.tir"
            path.write_text(CONFLICT, encoding="utf-8")
            result, = sarif_of("check", str(path), status=1)["results"]
            uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            self.assertEqual(uri, path.as_uri())

    def test_failures_are_notifications(self):
        run = sarif_of("check", "no such file.tir", status=2)
        self.assertEqual(run["results"], [])
        self.assertFalse(run["invocations"][0]["executionSuccessful"])
        self.assertTrue(run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"])
        self.assertTrue(sarif_of("check", "-", text=GOOD)["invocations"][0]["executionSuccessful"])


if __name__ == "__main__":
    TANGC = sys.argv.pop(1)
    unittest.main()
