# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154,SC2054
# Sourced by vm/run: the virtual machine, from files to a running QEMU.

# Both daemons end with the process that started them, even by kill -9.
tied=(setpriv --pdeathsig KILL)

start_virtiofsd() {
	local args=(--socket-path="$dir/fs")
	if "$vm/lib/unpacked" usr/lib/qemu/virtiofsd --version 2>&1 | grep -q '^virtiofsd [1-9]'; then
		args+=(--shared-dir=/ --cache=always --sandbox=chroot --readonly)
	else
		args+=(-f -o source=/ -o no_readdirplus -o cache=always -o sandbox=chroot -o log_level=err)
	fi
	"${tied[@]}" "$vm/lib/unpacked" usr/lib/qemu/virtiofsd "${args[@]}" \
		>"$dir/virtiofsd.log" 2>&1 </dev/null &
	fsd=$!
	for _ in {1..6000}; do
		[[ ! -S $dir/fs ]] || return 0
		kill -0 "$fsd" 2>/dev/null || break
		sleep 0.01
	done
	die 1 "virtiofsd, which shows the guest our files, did not start:" \
		"$(tail -n1 "$dir/virtiofsd.log") (are you root?)"
}

accelerator() {
	printf '%s\n' -accel "tcg,thread=$thread"
	[[ ! $icount ]] || printf '%s\n' -icount shift=0,sleep=off
}

network() {
	local f spec=user,id=net,restrict=on
	((${#forwards[@]})) || return
	for f in "${forwards[@]}"; do
		spec+=",hostfwd=tcp:127.0.0.1:${f%:*}-:${f#*:}"
	done
	printf '%s\n' -netdev "$spec" -device virtio-net-pci,netdev=net,romfile=
}

# All of the guest's memory, which the file server sees, too; in nodes that have the same share each.
memory() {
	local size=$mem share n
	[[ $mem == *G ]] && size=$((${mem%G} * 1024))M
	share=$((${size%M} / nodes))
	if ((nodes == 1)); then
		printf '%s\n' -object "memory-backend-memfd,id=mem,size=$mem,share=on" -machine memory-backend=mem
		return
	fi
	printf '%s\n' -m "$((share * nodes))M"
	for ((n = 0; n < nodes; n++)); do
		printf '%s\n' -object "memory-backend-memfd,id=mem$n,size=${share}M,share=on" \
			-numa "node,nodeid=$n,memdev=mem$n$(node_cpus "$n")"
	done
}

# node_cpus NODE: the CPUs that are its own; of fewer CPUs than nodes some nodes have none.
node_cpus() {
	local i
	for ((i = $1; i < cpus; i += nodes)); do
		printf ',cpus=%s' "$i"
	done
}

# Warnings and worse go to the console, where they are kept should the guest
# die. The clock of a busy host must not make the guest distrust its own, nor may the guest take
# it for a lockup (here after 60 s) when the host does not let it run.
kernel_line() {
	echo "console=ttyS0 loglevel=5 panic=-1 no_timer_check tsc=reliable" \
		"watchdog_thresh=30 rcupdate.rcu_cpu_stall_timeout=60" \
		"sysctl.kernel.hung_task_timeout_secs=300" \
		"${forwards:+ki.net=1}$append"
}

qemu_command() {
	local data=$cache/qemu/usr/share
	qemu=("${tied[@]}" "$vm/lib/unpacked" usr/bin/qemu-system-x86_64
		-L "$data/qemu" -L "$data/seabios" -nodefaults -no-user-config
		-display none -no-reboot -cpu "max$cpu" -smp "$cpus" -m "$mem"
		-machine "q35,usb=off,vmport=off"
		-kernel "$image" -initrd "$initrd" -append "$(kernel_line)"
		-chardev "file,id=console,path=${dir//,/,,}/console" -serial chardev:console
		-chardev "socket,id=fs,path=${dir//,/,,}/fs"
		-device vhost-user-fs-pci,chardev=fs,tag=hostroot
		-device virtio-serial-pci,max_ports=2 -chardev socket,id=port,fd=3
		-device virtserialport,chardev=port,name=kerninst)
	mapfile -t -O ${#qemu[@]} qemu < <(memory; accelerator; network)
	qemu+=("${plugins[@]}")
	[[ -z ${KI_VM_PLUGIN_LOG-} ]] || qemu+=(-d plugin -D "$KI_VM_PLUGIN_LOG")
}

# write_job KO: where and what to run, for the agent.
write_job() {
	local env=("HOME=/root" "USER=root" "LOGNAME=root" "SHELL=/bin/bash"
		"LANG=C.UTF-8" "TERM=dumb"
		"PATH=$top/build/release/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	) name
	for name in $(compgen -e KI_); do
		env+=("$name=${!name}")
	done
	printf '%s\0' "$PWD" "$modules" "$release" "$1" \
		"${#env[@]}" "${env[@]}" "${command[@]}" >"$dir/job"
}
