#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the driver's headers say is called with a lock held (__must_hold) asserts it, for the kernel with
lockdep: sparse knows no mutexes."""
import glob
import re
import sys

ARGS = r'\((?:[^()]|\([^()]*\))*\)'
DECLARED = re.compile(r'\b(ki_\w+)' + ARGS + r'\s*__must_hold\(&(\w+)\)')


def read(path):
    with open(path, encoding='utf-8') as f:
        return f.read()


def bodies(name, sources):
    defined = re.compile(r'^\w[^\n;]*\b%s%s\n\{\n(.*?)^\}' % (name, ARGS), re.M | re.S)
    return [(path, m.group(1)) for path, text in sources for m in defined.finditer(text)]


def main():
    sources = [(p, read(p)) for p in glob.glob('kmod/**/*.c', recursive=True)]
    wrong = declared = 0
    for path in glob.glob('kmod/**/*.h', recursive=True):
        for name, lock in DECLARED.findall(read(path)):
            declared += 1
            found = bodies(name, sources)
            for where, body in found:
                if f'lockdep_assert_held(&{lock})' not in body:
                    print(f'{where}: {name} does not assert {lock}')
                    wrong += 1
            if not found:
                print(f'{path}: {name} is defined nowhere')
                wrong += 1
    if declared < 50:
        print(f'only {declared} declarations found')
        wrong += 1
    return wrong > 0


sys.exit(main())
