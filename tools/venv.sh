#!/bin/sh
# Make an environment with pip in it: venv.sh PYTHON FOLDER
# What is missing is said in one line. An old default Python gives way to a newer one that is installed beside it.
set -u
python=$1
folder=$2

stop() {
	echo "recombine: $1" >&2
	exit 1
}

new_enough() {
	"$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

if ! new_enough "$python"; then
	found=
	for other in python3.14 python3.13 python3.12 python3.11; do
		if [ -z "$found" ] && new_enough "$other"; then found=$other; fi
	done
	if [ -z "$found" ]; then
		if command -v "$python" >/dev/null 2>&1; then
			is="$python is $("$python" --version 2>&1 | head -n 1)"
		else
			is="there is no $python"
		fi
		stop "Python 3.11 or newer is needed, and $is; install one (Debian, Ubuntu: apt install python3.11) and name it: make PYTHON=python3.11"
	fi
	python=$found
fi

# Only what was made here may be removed where making it fails.
if [ -e "$folder" ] && [ ! -f "$folder/pyvenv.cfg" ] && ! rmdir "$folder" 2>/dev/null; then
	stop "$folder is there and is no environment; remove it, or name another folder: make VENV=.venv-new"
fi

made() {
	"$folder/bin/python" -m pip --version >/dev/null 2>&1
}

# Debian ships venv without what puts pip into the environment; virtualenv and uv bring their own.
if "$python" -c 'import ensurepip, venv' 2>/dev/null; then
	"$python" -m venv "$folder" >/dev/null && made && exit 0
	rm -rf "$folder"
fi
if "$python" -c 'import virtualenv' 2>/dev/null; then
	"$python" -m virtualenv --quiet "$folder" && made && exit 0
elif command -v virtualenv >/dev/null 2>&1; then
	virtualenv --quiet --python "$python" "$folder" && made && exit 0
elif command -v uv >/dev/null 2>&1; then
	uv venv --quiet --seed --python "$python" "$folder" && made && exit 0
fi
rm -rf "$folder"
stop "$python cannot make an environment: install venv (Debian, Ubuntu: apt install python3-venv) or virtualenv, and run make again"
