"""Which notebooks a replay may try again: those whose kernel never answered, and no others."""

import replay

CASE = '<testcase classname="setting.structure.structure.ipynb" name="Cell 0">{}</testcase>'


def settled(tmp_path, *inside):
    report = tmp_path / "report.xml"
    report.write_text(
        "<testsuites><testsuite>" + "".join(map(CASE.format, inside)) + "</testsuite></testsuites>"
    )
    return replay.unsettled(report)


def test_only_a_kernel_that_never_answered_is_worth_another_try(tmp_path):
    silent = '<error message="RuntimeError: Kernel didn\'t respond in 60 seconds">trace</error>'
    differs = '<failure message="NbCellError: cell failed">mismatch</failure>'
    assert settled(tmp_path, "", "") == ([], False)
    assert settled(tmp_path, "", silent, silent) == (["setting.structure.structure"], False)
    assert settled(tmp_path, differs) == ([], True)
    assert settled(tmp_path, silent, differs) == (["setting.structure.structure"], True)
