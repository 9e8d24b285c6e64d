"""The page's recipes for SLURM and Kubernetes, with the packages that they use, and no cluster."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import arena

ROOT = Path(__file__).parents[2]
SBATCH = """#!/bin/sh
# Starts a job's script here; its number is that of the process.
for script; do :; done
sh "$script" >>jobs.txt 2>&1 &
echo "Submitted batch job $!"
"""


def recipe(heading: str) -> str:
    """The Python below a heading of the page."""
    text = (ROOT / "docs/cluster.md").read_text().split(f"### {heading}\n")[1]
    return re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]


def test_the_containers_of_kubernetes_start_commands_that_there_are(monkeypatch):
    """The manifest is made by dask-kubernetes; its commands are those of the installed `distributed`."""
    operator = pytest.importorskip("dask_kubernetes.operator", reason="needs dask-kubernetes")
    pytest.importorskip("distributed", reason="needs the extra `cluster`")
    made, played = [], []

    class Cluster:
        def __init__(self, custom_cluster_spec):
            made.append(custom_cluster_spec)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def scale(self, workers):
            made.append(workers)

    monkeypatch.setattr(operator, "KubeCluster", Cluster)
    monkeypatch.setattr(arena, "run", lambda *arguments, **named: played.append(named["cluster"]))
    exec(recipe("Kubernetes"), {})
    spec, workers = made
    assert workers == 10 and len(played) == 1 and spec["kind"] == "DaskCluster"
    for part, command in (("scheduler", "scheduler"), ("worker", "worker")):
        (container,) = spec["spec"][part]["spec"]["containers"]
        assert container["args"][:2] == ["dask", command] and container["image"].endswith("search-arena:0.1")
        known = subprocess.run(
            [sys.executable, "-m", "dask", command, "--help"], capture_output=True, text=True, check=True
        )
        options = [word for word in container["args"] if word.startswith("--") and word != "--dashboard"]
        assert options and all(option in known.stdout for option in options)


@pytest.mark.slow
def test_a_job_of_slurm_plays_games(tmp_path, monkeypatch):
    """`sbatch` starts local processes here; what the job's script says is dask-jobqueue's."""
    pytest.importorskip("dask_jobqueue", reason="needs dask-jobqueue")
    for name, text in (("sbatch", SBATCH), ("scancel", "#!/bin/sh\nkill $1\n")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    (tmp_path / "tournament.toml").write_text(
        'game = "tictactoe"\ngames = 20\nagents = ["random", "flat(playouts=3)"]\n'
    )
    text = recipe("SLURM").replace('cores=16, processes=1, memory="32GB"', 'cores=1, processes=1, memory="2GB"')
    assert "jobs=20" in text and text != recipe("SLURM")
    (tmp_path / "script.py").write_text(text.replace("jobs=20", "jobs=1"))
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    sources = os.pathsep.join(part or os.getcwd() for part in sys.path)
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=os.environ | {"PATH": path, "PYTHONPATH": sources},
        timeout=300,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + (tmp_path / "jobs.txt").read_text()
    assert len(arena.load(tmp_path / "runs/first").games) == 20 and shutil.which("sbatch") is None
