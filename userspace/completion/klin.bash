# SPDX-License-Identifier: GPL-2.0
# Completion of klin's command line for bash.  Made by tools/completion.

_klin_values()
{
    case $1 in
    check--color) printf 'auto\nalways\nnever\n' ;;
    check--engine) klin check --engine=help 2>/dev/null | sed 's/ .*//' ;;
    check--from) klin convert --from=help 2>/dev/null | sed 's/ .*//' ;;
    check--independent) printf 'yes\nno\n' ;;
    check--memory-model) printf 'tso\nsc\n' ;;
    check--output) printf 'text\njson\nktap\njunit\n' ;;
    convert--from) klin convert --from=help 2>/dev/null | sed 's/ .*//' ;;
    convert--independent) printf 'yes\nno\n' ;;
    convert--to) klin convert --from=help 2>/dev/null | sed 's/ .*//' ;;
    explore--memory-model) printf 'tso\nsc\n' ;;
    explore--output) printf 'text\njson\nktap\njunit\n' ;;
    gen--type) klin spec --list 2>/dev/null | sed 's/ .*//' ;;
    gen--memory-model) printf 'tso\nsc\n' ;;
    gen--where) printf 'early\nlate\nanywhere\n' ;;
    gen--to) klin convert --from=help 2>/dev/null | sed 's/ .*//' ;;
    litmus--memory-model) printf 'tso\nsc\n' ;;
    litmus--output) printf 'text\njson\nktap\njunit\n' ;;
    monitor--attach) printf 'auto\nfentry\nkprobe\nplain\n' ;;
    monitor--clock) printf 'mono\nseq\ntick\nepoch\n' ;;
    monitor--color) printf 'auto\nalways\nnever\n' ;;
    monitor--memory-model) printf 'tso\nsc\n' ;;
    monitor--output) printf 'text\njson\nktap\njunit\n' ;;
    record--attach) printf 'auto\nfentry\nkprobe\nplain\n' ;;
    record--clock) printf 'mono\nseq\ntick\nepoch\n' ;;
    replay--from) klin convert --from=help 2>/dev/null | sed 's/ .*//' ;;
    replay--independent) printf 'yes\nno\n' ;;
    report--from) klin convert --from=help 2>/dev/null | sed 's/ .*//' ;;
    report--independent) printf 'yes\nno\n' ;;
    report--memory-model) printf 'tso\nsc\n' ;;
    top--color) printf 'auto\nalways\nnever\n' ;;
    verify--output) printf 'text\njson\nktap\njunit\n' ;;
    esac
}

_klin()
{
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
    local command=${COMP_WORDS[1]} options='' specs=''

    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "check convert explore gen list litmus monitor new record replay report rounds sites spec top verify help --help --version" -- "$current")
        return
    fi
    # bash takes the = of --option=value for a word of its own.
    if [[ $current == = ]]; then
        current=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD-2]}
    fi
    case $command in
    help) mapfile -t COMPREPLY < <(compgen -W "check convert explore gen list litmus monitor new record replay report rounds sites spec top verify" -- "$current"); return ;;
    check) options='--cache= --certificate= --color= --counterexample= --engine= --explain --follow --from= --full --independent= --json --lateness= --memory-limit= --memory-model= --no-diagram --no-partition --output= --partition --show= --threads= --time-limit= --work= --help --usage' specs=1 ;;
    convert) options='--from= --independent= --name= --spec= --to= --help --usage' ;;
    explore) options='--full --hash-compact --histories --json --memory-limit= --memory-model= --no-reduce= --no-run --ops= --outcomes --output= --shortest --stats --threads= --time-limit= --help --usage' specs=1 ;;
    gen) options='--keys= --mix= --objects= --ops= --producers= --seed= --threads= --type= --any --delay= --error= --memory-model= --mutate= --pending= --points --stall --where= --output= --to= --help --usage' ;;
    list) options='--btf= --debug= --symbols= --verbose --help --usage' specs=1 ;;
    litmus) options='--explain= --json --memory-limit= --memory-model= --no-reduce --output= --summary --time-limit= --help --usage' ;;
    monitor) options='--attach= --buffer= --certificate= --clock= --clock-error= --color= --cpu= --debug= --duration= --full --json --load= --memory-limit= --memory-model= --no-diagram --object= --output= --pid= --sample= --show= --slots= --stacks --top --verbose --help --usage' specs=1 ;;
    new) options='--btf= --name= --output= --symbols= --help --usage' ;;
    record) options='--attach= --buffer= --clock= --clock-error= --cpu= --debug= --duration= --load= --object= --output= --pid= --sample= --slots= --stacks --verbose --help --usage' specs=1 ;;
    replay) options='--from= --history= --independent= --spec= --time-limit= --help --usage' ;;
    report) options='--from= --independent= --memory-model= --operations= --output= --texts= --time-limit= --help --usage' specs=1 ;;
    rounds) options='--cpus= --output= --rounds= --seed= --variant= --help --usage' specs=1 ;;
    sites) options='--debug= --kernel= --in= --json --module= --help --usage' ;;
    spec) options='--dump --list --help --usage' specs=1 ;;
    top) options='--batch --color= --once --socket= --sort= --help --usage' ;;
    verify) options='--dot= --full --json --memory-limit= --no-confirm --no-reduce= --no-trail --output= --roles= --stats --threads= --time-limit= --help --usage' specs=1 ;;
    esac
    if [[ $before == --* && $current != -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_klin_values "$command$before")" -- "$current")
        [[ ${#COMPREPLY[@]} -eq 0 ]] || return
    fi
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
        [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace
        return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$current"
        [[ -z $specs ]] || compgen -W "$(klin spec --list 2>/dev/null | sed 's/ .*//')" -- "$current")
    compopt -o filenames
}

complete -F _klin klin
