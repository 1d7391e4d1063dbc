# SPDX-License-Identifier: GPL-2.0
# ward: builds the module (make), shows it (make demo), tests it (make check).  make help says more.

# The kernel's build system reads Kbuild, never this file.
KDIR ?= /lib/modules/$(shell uname -r)/build
PREFIX ?= /usr/local

all:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

install: all
	$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_DIR=updates modules_install

install-tools:
	mkdir -p $(addprefix $(DESTDIR)$(PREFIX)/,bin share/man/man8 \
		share/bash-completion/completions)
	tools/wardstat/build $(DESTDIR)$(PREFIX)/bin/wardstat
	cp tools/wardstat/wardstat.8 $(DESTDIR)$(PREFIX)/share/man/man8/
	cp tools/wardstat/completion.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/wardstat

clean:
	$(MAKE) -C $(KDIR) M=$(CURDIR) clean

demo:
	@tools/vm/demo

shell:
	@tools/vm/shell

check:
	@tools/check

check-full:
	@FULL=1 tools/check

check-unit check-wardstat check-kunit check-vm lint:
	@tools/check $(@:check-%=%)

mutate:
	@tools/mutate/run

bench:
	@tools/bench/run $(if $(QUICK),-q)

help:
	@sed -n 's/^#: //p' $(firstword $(MAKEFILE_LIST))

.PHONY: all install install-tools clean demo shell check check-full check-unit check-wardstat check-kunit check-vm lint mutate bench help

#: make               build ward.ko against the running kernel
#: make KDIR=...      build it against another one (6.1, 6.12 or 7.3)
#: make install       install the module for that kernel (depmod included)
#: make install-tools
#:                    wardstat, its man page and its completion (PREFIX=/usr/local)
#: make clean         remove what the build left
#:
#: make demo          as root: NFS over RDMA between two ward devices in a VM, from nothing
#:                    (IPV6=1: over IPv6; NFSVERS=3: NFSv3; KVER=6.1 or 7.3: another kernel)
#: make shell         as root: a prompt in the same VM with both devices up
#:
#: make check         as root: the tests; ends in "N passed, N failed"
#: make check-full    the long versions, and the tests of rdma-core and perftest in the VM
#: make lint          checkpatch, sparse, W=1 builds, shellcheck
#: make check-unit    protocol logic in user space
#: make check-wardstat
#:                    wardstat on recorded folders
#: make check-kunit   KUnit on user-mode Linux
#: make check-vm      module builds for 6.1, 6.12 and 7.3, system tests in VMs
#:
#: make mutate        breaks one rule of the fences in the driver at a time, and fails unless a
#:                    test notices
#: make bench         as root: ward beside rxe, siw and TCP in user-mode Linux: a table with
#:                    ratios, JSON, charts (QUICK=1: in three minutes, what is judged only)
#:
#: What these download and build is kept in ${WARD_CACHE:-~/.cache/ward}.
