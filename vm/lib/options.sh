# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2154,SC2015
# Sourced by vm/run: what was asked for.

usage() {
	cat <<END
usage: vm/run [OPTION...] -- COMMAND [ARG...]

Runs COMMAND as root in a virtual machine with a stock Debian kernel, after
loading the kerninst module there; this tree's tools are in its PATH. The machine sees this one's files, in the
current directory too, but what it writes is gone when COMMAND ends. Output and
exit status are COMMAND's; 255 if the machine died.

  --kernel NAME      ${kernels// /, } (default 6.1)
  --cpus N           virtual CPUs (default 2)
  --cpu PROPERTIES   what they are instead of the best that QEMU has, such as
                     vendor=GenuineIntel,family=6,model=94
  --nodes N          memory nodes, to which memory and CPUs are dealt out (default 1)
  --mem SIZE         memory, such as 512M or 2G (default 2G; 6.1-debug: 4G)
  --thread HOW       emulate the CPUs in multi (default) or single thread
  --icount           count instructions: clock and rdtsc advance by one for each
                     one executed, the same in every run; one CPU, or --cpus N that
                     take turns
  --plugin FILE[,..] load a QEMU plugin, with its arguments
  --append ARGS      add to the kernel's command line, such as nokaslr
  --forward H:G      let port H of this machine's 127.0.0.1 reach the guest's G
  --no-module        do not build and load the module
  --timeout S        stop COMMAND after S seconds, with exit status 124

Environment: KI_CACHE names the directory for kernels and QEMU, fetched when
they are first needed; KI_VM_QUIET=1 leaves out the line about the machine;
KI_VM_LOG names a file for the guest's console, KI_VM_PLUGIN_LOG one for what
QEMU's own plugins print; KI_VM_BOOT_LIMIT is the number of seconds in which it
has to be up. Variables that begin with KI_ are COMMAND's too; of the others it
gets its own.

examples:
  vm/run -- uname -a
  vm/run --kernel 6.12 --no-module -- dmesg
  vm/run --icount --append nokaslr -- sh -c 'ls | wc -l'
END
}

kernel=6.1
cpus=
cpu=
nodes=1
mem=
thread=
icount=
plugins=()
append=
forwards=()
module=1
timeout=0
command=()

# number OPTION VALUE MIN MAX
number() {
	[[ $2 =~ ^[0-9]{1,9}$ ]] && ((10#$2 >= $3 && 10#$2 <= $4)) ||
		die 2 "$1 needs a number from $3 to $4, not '$2'"
}

add_forward() {
	[[ $1 =~ ^([0-9]{1,5}):([0-9]{1,5})$ ]] ||
		die 2 "--forward needs HOSTPORT:GUESTPORT, such as 8080:80, not '$1'"
	number --forward "${1%:*}" 1 65535
	number --forward "${1#*:}" 1 65535
	forwards+=("$1")
}

add_plugin() {
	local file=${1%%,*}
	[[ -r $file ]] || die 2 "--plugin: cannot read '$file'"
	plugins+=(-plugin "$(readlink -f "$file")${1#"$file"}")
}

# set_option NAME VALUE, for the options that take a value.
set_option() {
	case $1 in
	--kernel) kernel=$2 ;;
	--cpus) number "$1" "$2" 1 64; cpus=$((10#$2)) ;;
	--nodes) number "$1" "$2" 1 8; nodes=$((10#$2)) ;;
	--cpu)
		[[ $2 =~ ^[a-z0-9_.-]+=[A-Za-z0-9]+(,[a-z0-9_.-]+=[A-Za-z0-9]+)*$ ]] ||
			die 2 "--cpu needs properties such as family=6,model=94, not '$2'"
		cpu+=,$2
		;;
	--mem)
		[[ $2 =~ ^[1-9][0-9]{0,6}[MG]$ ]] ||
			die 2 "--mem needs a size such as 512M or 2G, not '$2'"
		mem=$2
		;;
	--thread)
		[[ $2 == single || $2 == multi ]] ||
			die 2 "--thread is single or multi, not '$2'"
		thread=$2
		;;
	--plugin) add_plugin "$2" ;;
	--append) append+=" $2" ;;
	--forward) add_forward "$2" ;;
	--timeout) number "$1" "$2" 0 999999999; timeout=$((10#$2)) ;;
	esac
}

parse_options() {
	while (($#)); do
		case $1 in
		-h | --help) usage; exit 0 ;;
		--icount) icount=1 ;;
		--no-module) module= ;;
		--kernel | --cpus | --cpu | --nodes | --mem | --thread | --plugin | --append | \
			--forward | --timeout)
			(($# > 1)) || die 2 "$1 needs a value (vm/run --help)"
			set_option "$1" "$2"
			shift
			;;
		--*=*)
			# --name=value is --name value.
			set -- "${1%%=*}" "${1#*=}" "${@:2}"
			continue
			;;
		--) shift; command=("$@"); break ;;
		-*) die 2 "no option '$1' (vm/run --help)" ;;
		*) command=("$@"); break ;;
		esac
		shift
	done
	known_kernel "$kernel"
	((${#command[@]})) || die 2 "no COMMAND to run (vm/run --help)"
	if [[ $icount ]]; then
		[[ ${thread:-single} == single ]] || die 2 "--icount works with --thread single only"
		cpus=${cpus:-1} thread=single
	fi
	cpus=${cpus:-2} thread=${thread:-multi}
	# Both make emulation slower by a factor of a few.
	boot_limit=${KI_VM_BOOT_LIMIT:-180}
	[[ ! $icount && ${#plugins[@]} == 0 ]] || boot_limit=900
	# What watches itself is slow too, and needs an eighth of the memory for that.
	[[ $kernel != *-debug ]] || boot_limit=$((boot_limit * 2)) mem=${mem:-4G}
	mem=${mem:-2G}
}
