#!/usr/bin/env python3
"""Shows that bench/pages.py refuses what it should: `python3 bench/pages_test.py`.

Most tests put one made-up thing on a page and expect the check to name it.
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True

import cells  # noqa: E402
import pages  # noqa: E402

CSV = "name,kind,seconds,share\nours,dense,0.5,0.25\ntheirs,dense,2.0,\n"
TABLE = "<!-- table: box/a.csv name seconds -->\n<!-- end table -->"


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        results = Path(folder.name).resolve()
        (results / "box").mkdir()
        (results / "box" / "a.csv").write_text(CSV)
        (results / "names.csv").write_text("key,name\nours,**Ours**\n")
        (results / "runs.csv").write_text(
            "file,part,command,date,load\nbox/a.csv,,cargo run,2026-01-02,idle\n"
        )
        for module in (cells, pages):
            before = module.RESULTS
            module.RESULTS = results
            self.addCleanup(setattr, module, "RESULTS", before)
        self.results = results

    def fill(self, text):
        return pages.filled("page.md", text)[0]

    def claims(self, text):
        return [what for _, what in pages.untraced(self.fill(text))]

    def test_a_made_up_figure_is_found(self):
        for claim in ["17 ms", "3.5×", "12 %", "1,234 µs", "8 times", "47 thousand", "5e-3 m"]:
            found = self.claims(f"It takes {claim} for each.")
            self.assertEqual(len(found), 1, claim)
            self.assertIn(claim, found[0])

    def test_a_made_up_cell_of_a_table_by_hand_is_found(self):
        self.assertEqual(len(self.claims("| task | [ms] |\n|---|---:|\n| contacts | 42.1 |")), 1)

    def test_figures_from_a_csv_code_and_conditions_are_not_claims(self):
        text = "<!-- figure: box/a.csv seconds:.1f*1e3 where:name=ours -->… ms of `7 ms`, 0.5 %\n"
        text += TABLE + "\n```\n9 ms\n```\n<!-- given: 0.5 % -->"
        self.assertEqual(self.claims(text), [])

    def test_a_condition_that_is_not_on_the_page_is_found(self):
        self.assertEqual(len(self.claims("Nothing here. <!-- given: 0.5 % -->")), 1)

    def test_a_figure_is_filled_from_its_row(self):
        line = "<!-- figure: box/a.csv seconds:.1f*1e3 where:name=ours -->7.0 ms"
        self.assertIn("-->500.0 ms", self.fill(line))

    def test_a_quotient_of_two_rows(self):
        line = '<!-- figure: box/a.csv "seconds(name=theirs)/seconds(name=ours):.1f" -->…×'
        self.assertIn("-->4.0×", self.fill(line))

    def test_a_stale_figure_differs_from_what_is_filled(self):
        line = "<!-- figure: box/a.csv seconds where:name=ours -->0.4 s"
        self.assertNotEqual(self.fill(line), line)

    def test_what_follows_a_figure_stays(self):
        line = "<!-- figure: box/a.csv seconds:.0f*2e3 where:name=theirs -->…, or more, 5, 6"
        filled = self.fill(line)
        self.assertTrue(filled.endswith("-->4000, or more, 5, 6"), filled)
        self.assertEqual(self.fill(filled), filled)

    def test_rows_fold(self):
        for fold, wanted in [("max", "2.0"), ("sum", "2.5"), ("mean", "1.2"), ("count", "2")]:
            line = f"<!-- figure: box/a.csv seconds:.1f of:{fold} -->… s".replace(
                ":.1f of:count", " of:count"
            )
            self.assertIn(f"-->{wanted} s", self.fill(line))

    def test_a_table_has_names_quotients_and_dashes(self):
        mark = "<!-- table: box/a.csv name=who:name seconds/seconds(name=ours)=times:.1f share -->"
        mark = mark.replace("seconds/seconds(name=ours)=times:.1f", '"seconds/seconds(name=ours)=times:.1f"')
        table = self.fill(mark + "\n<!-- end table -->").split("\n")
        self.assertEqual(table[1:3], ["| who | times | share |", "|---|---:|---:|"])
        self.assertEqual(table[3:5], ["| **Ours** | 1.0 | 0.25 |", "| theirs | 4.0 | – |"])

    def test_figures_are_spread_over_columns(self):
        (self.results / "box" / "long.csv").write_text(
            "nodes,figure,value,unit\n64,time,1,s\n64,size,9,B\n128,time,2,s\n"
        )
        mark = "<!-- table: box/long.csv drop:unit spread:figure,value -->\n<!-- end table -->"
        table = self.fill(mark).split("\n")
        self.assertEqual(table[1:-1], [
            "| nodes | time | size |", "|---:|---:|---:|", "| 64 | 1 | 9 |", "| 128 | 2 | – |"
        ])
        with self.assertRaises(cells.Fault):
            self.fill("<!-- table: box/long.csv drop:nodes drop:unit spread:figure,value -->")

    def test_the_run_of_a_file(self):
        text = self.fill("<!-- run: box/a.csv -->\n<!-- end run -->")
        self.assertIn("- `cargo run` on `box`, idle, 2026-01-02.", text)

    def test_a_table_without_its_run_is_found(self):
        self.assertEqual(pages.unexplained(TABLE), ["box/a.csv"])
        self.assertEqual(pages.unexplained("<!-- run: box/a.csv -->\n" + TABLE), [])

    def test_a_csv_without_a_run_is_found(self):
        self.assertEqual(pages.results_without_run(), [])
        (self.results / "box" / "b.csv").write_text(CSV)
        self.assertEqual(pages.results_without_run(), ["box/b.csv"])

    def test_marks_that_name_nothing_are_errors(self):
        for line in [
            "<!-- figure: box/b.csv seconds where:name=ours -->1 s",
            "<!-- figure: box/a.csv minutes where:name=ours -->1 s",
            "<!-- figure: box/a.csv seconds where:name=nobody -->1 s",
            "<!-- figure: box/a.csv seconds -->1 s",
            "<!-- figure: box/a.csv share where:name=theirs -->1 s",
            "<!-- figure: box/a.csv seconds where:name=ours --> about 1 s",
            "<!-- table: box/a.csv minutes -->\n<!-- end table -->",
            "<!-- table: box/a.csv where:name=nobody -->\n<!-- end table -->",
            TABLE.split("\n")[0],
            "<!-- run: box/b.csv -->\n<!-- end run -->",
        ]:
            with self.assertRaises(cells.Fault, msg=line):
                self.fill(line)


if __name__ == "__main__":
    unittest.main()
