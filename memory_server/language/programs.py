"""Knowledge of programs: which run others, their other names, which flags are the same, which write files."""

from typing import Final, NamedTuple

from memory_server.language import tables


class Wrapper(NamedTuple):
    """A program that runs another one, behind its own flags and `skips` words.

    `valued` are flags with a value behind them. Where `plain` is not empty, all flags but those have one.
    """

    valued: frozenset[str] = frozenset()
    skips: int = 0
    plain: frozenset[str] = frozenset()


def _wrapper(text: str) -> Wrapper:
    """Read the number of words that are skipped, and the flags with a value."""
    words = text.split()
    skips = int(words.pop(0)) if words and words[0].isdecimal() else 0
    return Wrapper(frozenset(words), skips)


_IN_CONTAINER: Final = Wrapper(
    skips=1,
    plain=tables.words(
        "-i -t -d -it -ti -dit -itd -P -q --rm --privileged --init --interactive --tty --detach --read-only"
        " --no-healthcheck"
        " --quiet --publish-all -T --no-deps --service-ports --build --quiet-pull --use-aliases --no-TTY --sig-proxy"
    ),
)

WRAPPERS: Final = {
    **tables.read("""
    sudo: -u -g -h -p -C -r -t -U -D -R -T --user --group --host --prompt --chdir
    doas: -u -C -a
    env: -u -C -S --unset --chdir
    nohup, setsid, command, builtin, unbuffer, entr, bundle exec, nix develop, devbox run, k3s, microk8s, sail:
    poetry run, pipenv run, rye run, yarn exec, bun x, rbenv exec, pyenv exec, asdf exec, rtx exec, turbo exec:
    exec: -a
    time: -f -o --format --output
    nice: -n --adjustment
    ionice: -c -n -p --class --classdata
    chrt, direnv exec, chamber exec, vagrant ssh: 1
    taskset: 1 -c
    timeout, gtimeout: 1 -s -k --signal --kill-after
    stdbuf: -i -o -e --input --output --error
    strace: -e -o -p -s -P -u
    ltrace: -e -o -p -s
    caffeinate: -t -w
    xvfb-run: -n -s -e -f -p -w --server-num --server-args --error-file
    coverage run: --source --omit --include --rcfile --data-file --context
    chroot: 1 --userspec --groups
    flock: 1 -w -E --wait --timeout
    watch: -n --interval
    xargs: -I -n -P -L -d -E -s -a --max-args --max-procs --replace --delimiter --arg-file --max-lines
    parallel: -j --jobs -I -n -N --delay --retries --colsep -a --arg-file
    dotenv: -e -f -c
    dotenvx run: -f -e
    op run: --env-file --account
    doppler run: -p -c --project --config
    aws-vault exec: 1 -d -t --duration --mfa-token
    infisical run: --env --path
    npx, npm exec: -p --package -w --workspace
    bunx, npm x, yarn dlx: -p --package
    pnpm exec: -F --filter -C --dir
    pnpm dlx: --package
    uvx, uv tool run: --from --with -p --python
    uv run: --with --extra --group -p --python --env-file --directory --project --package --no-group
    pipx run: --spec --python
    pdm run: -p --project
    hatch run: -e --env
    conda run: -n -p --name --prefix --cwd
    mamba run: -n -p --name --prefix
    micromamba run: -n -p
    mise exec, mise x: -C --cd
    nix-shell: -p -I -A --packages
    heroku run: -a --app -r --remote -s --size
    fly ssh console: -a --app
    minikube: -p --profile
    nomad alloc exec: 1 -task
    kubectl exec: 1 -n --namespace -c --container --context
    oc exec: 1 -n --namespace -c --container
    lerna exec: --scope
    wsl: -d -u
    """, _wrapper),
    **dict.fromkeys(
        [
            *(f"{program} {sub}" for program in ("docker", "podman", "nerdctl") for sub in ("exec", "run")),
            *(f"docker {kind} {sub}" for kind in ("compose", "container") for sub in ("exec", "run")),
        ],
        _IN_CONTAINER,
    ),
}  # fmt: skip
"""Programs that run the command behind them."""

OF_IMAGES: Final = tables.words("docker podman nerdctl")
"""Programs that run an image: the name of one is often that of the program in it, as `hashicorp/terraform`."""

SHOWS: Final = tables.read("""
    make, gmake: -n --dry-run --just-print --recon
    just: --show -s --dry-run -n --list -l --summary --evaluate
    task, go-task: --summary --dry -n --list -l
    rake: -n --dry-run -T -P --tasks
    """, tables.words)  # fmt: skip
"""Programs that only show what they would do, with one of these flags."""

PASSING: Final = tables.words(
    "sudo doas env nohup setsid command builtin exec time nice ionice chrt taskset timeout gtimeout stdbuf"
    " unbuffer caffeinate xvfb-run"
)
"""Those of them that change nothing of what the command is."""

OF_TEXT: Final = {
    "ssh": tables.words("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"),
}
"""Programs that hand the words behind the first one to a shell elsewhere; their flags with a value."""

SHELLS: Final = tables.words("sh bash zsh dash ksh ash fish rbash busybox pwsh powershell cmd")

CODE: Final = tables.read("""
    python, python2, python3, py, pypy3, ipython: -c
    node, nodejs, bun, tsx, deno: -e -p --eval --print eval
    perl, ruby: -e -E -ne -pe -pie -i.bak
    php: -r
    lua, osascript: -e
    awk, gawk, mawk:
    """, tables.words)  # fmt: skip
"""Programs that run code in another language, and the flags before it. awk takes it first."""

LINE_FLAGS: Final = tables.words(
    "/c /C /k /K -c --command -lc -ic -ec -xc -euc -exc -lic -ilc -cl -euxc -Command -command -C --run --call"
)
"""Flags before a line of a shell."""

WITH_A_LINE: Final = {
    **dict.fromkeys(("su", "runuser", "script"), LINE_FLAGS),
    "ansible": tables.words("-a --args"),
}
"""Programs that run the line behind a flag."""

RUNS_A_LINE: Final = {
    **dict.fromkeys(("npx", "npm", "nix-shell", "vagrant", "flock", "nix", "fly"), LINE_FLAGS),
    "env": tables.words("-S --split-string"),
}
"""Programs that may do so instead of running the command behind them."""

GIT_VALUED: Final = tables.words("-C -c --git-dir --work-tree --namespace --exec-path")
"""Flags of git before its sub-command that have a value."""

SETTING: Final = tables.words(
    "ssh-agent direnv pyenv rbenv nodenv fnm brew mise starship zoxide opam luarocks dircolors gpg-agent conda"
    " minikube aws docker-machine keychain register-python-argcomplete thefuck op fzf atuin vault poetry pipenv"
    " npm kubectl gh lesspipe doppler"
)
"""Programs whose output an `eval` may take: it sets variables and functions."""

FETCHES: Final = tables.words(
    "curl wget http https aria2c fetch base64 gbase64 openssl xxd gunzip zcat gzip bunzip2 nc netcat aws gsutil"
    " gcloud python python3 node perl ruby rev tr"
)
"""Programs whose output nobody can know before it runs: piped to a shell, it can be any command."""

NO_SUB_COMMANDS: Final = tables.words(
    "rm rmdir cp mv ln chmod chown chgrp cat ls curl wget ssh scp rsync kill pkill killall dd psql mysql mariadb"
    " sqlite3 mongo mongosh redis-cli python python3 python2 node ruby perl php bash sh zsh shutdown reboot halt"
    " mkfs tee touch shred truncate sed awk grep rg find tar zip unzip make gmake just task rake kubectx kubens"
    " crontab iptables ufw nmap wipefs fdisk parted createdb dropdb dropuser pg_restore pg_dump mongorestore"
    " mongodump umount mount open code vim nano pytest jest vitest tox nox black ruff eslint prettier tsc"
    " go-migrate flyway liquibase alembic-cli gradle gradlew mvn mvnw sbt ant lein grunt gulp invoke fastlane"
    " go-task source . export unset http https env printenv head tail less more"
)
"""Programs whose first word is no more than the others."""

OF_PROJECTS: Final = tables.words("gradle gradlew sbt kubectl oc k")
"""Programs that may name a project or a kind before what they name: `:core:publish`, `core/publish`, `ns/prod`."""

SAME: Final = tables.read("""
    git: -f --force, -d --delete, -n --no-verify --dry-run, -a --all, -u --set-upstream
    git: -m --message --move, -p --patch --prune, -q --quiet, -i --interactive
    rm, cp: -r -R --recursive, -f --force
    mv: -f --force
    ln: -f --force, -s --symbolic
    chmod, chown: -R --recursive
    curl: -X --request, -k --insecure, -d --data, -T --upload-file, -u --user
    docker: -f --force, -a --all, -v --volumes, -t --timeout, -d --detach
    npm, pnpm: -g --global, -f --force, -D --save-dev
    kubectl: -A --all-namespaces, -n --namespace, -f --filename, -l --selector
    helm: -n --namespace, -f --values, -i --install
    apt, apt-get: -y --yes --assume-yes
    pip: -U --upgrade, -y --yes, -r --requirement
    psql: -c --command, -f --file, -d --dbname, -h --host, -U --username
    mysql: -e --execute, -h --host, -u --user, -D --database
    rsync: -r --recursive, -n --dry-run
    gh: -R --repo, -y --yes
    cargo: -r --release, -p --package
    firebase: -P --project, -f --force
    vercel: -y --yes, -p --prod
    netlify: -p --prod, -d --dir
    ansible-playbook: -i --inventory, -C --check, -l --limit
    redis-cli: -n --db
    kill: -9 -KILL -SIGKILL
    pkill: -9 -KILL -SIGKILL, -f --full
    heroku: -a --app, -c --confirm
    stripe: -d --data
    """, tables.groups)  # fmt: skip
"""Flags of a program that mean the same."""

SUB_COMMANDS: Final = tables.read("""
    npm: i=install run-script=run un=uninstall rm=uninstall t=test rum=run up=update
    pnpm: i=install rm=remove up=update run-script=run
    bun: i=install a=add rm=remove
    cargo: b=build r=run t=test
    kubectl: ns=namespace namespaces=namespace po=pod pods=pod deploy=deployment deployments=deployment
    kubectl: svc=service services=service sts=statefulset pvc=persistentvolumeclaim secrets=secret
    kubectl: cm=configmap crds=crd nodes=node no=node
    docker: container= image= ps=ls
    pulumi: update=up down=destroy
    gh: repository=repo
    rustup: remove=uninstall
    yarn: run=
    hg: ci=commit up=update
    svn: ci=commit
    """, tables.pairs)  # fmt: skip
"""Other words for a sub-command or what it works on; '' where it may be left out."""

PROGRAMS: Final = {
    "docker-compose": ("docker", "compose"),
    **{
        name: (meant,)
        for name, meant in tables.pairs(
            "nodejs=node gradlew=gradle mvnw=mvn sls=serverless hub=git podman=docker nerdctl=docker tofu=terraform"
            " k=kubectl oc=kubectl mariadb=mysql gmake=make unlink=rm apt-get=apt aptitude=apt ntl=netlify"
            " tf=terraform go-task=task mamba=conda micromamba=conda aws-cdk=cdk aws-cli=aws firebase-tools=firebase"
        ).items()
    },
}
"""Programs that do what another one does, with the words behind its name."""

SCRIPTS: Final = tables.words("yarn pnpm bun")
"""Programs that run a program of the project where their first word is no command of their own."""

OF_PACKAGES: Final = tables.words(
    "install i add a remove rm un uninstall update up upgrade run test t start exec dlx x publish init create"
    " link unlink why list ls outdated audit pack cache config info login logout workspace workspaces version"
    " dedupe set import fetch prune"
)

WHOLE: Final = tables.words(
    "rm unlink shred mv chmod chown chgrp trash rsync remove-item move-item del erase rd"
)
"""Programs that write, move or delete what they name with all that lies in it."""

WRITES: Final = tables.words(
    "rmdir truncate touch tee sponge patch ln black set-content add-content out-file clear-content new-item"
)
"""Programs that write what they name."""

WRITES_LAST: Final = tables.words("cp install scp")
"""Programs that write the last file that they name."""

WRITES_WITH: Final = tables.read("""
    sed: -i --in-place -i.bak -i'' -ni -Ei -ri -i.orig
    gsed: -i --in-place -i.bak
    perl: -i -pi -pi.bak -i.bak -pie -p0i -0pi -i.orig
    ruby: -i -pi
    awk: -i
    prettier: --write -w
    eslint: --fix
    ruff: --fix format
    gofmt: -w
    yq: -i --inplace
    sqlite3, dos2unix: *
    sort: -o
    curl: -o -O --output
    wget: -O
    find: -delete -exec -execdir -ok
    """, tables.words)  # fmt: skip
"""Programs that write what they name, with one of these flags."""

GIT_WRITES: Final = tables.words("rm mv checkout restore clean apply")

READS: Final = tables.words(
    "cat less more head tail bat batcat grep egrep rg ag awk gawk sed cut sort uniq wc strings xxd od hexdump"
    " base64 tac nl cp mv scp rsync source . tar zip diff jq yq open code vim vi nvim nano emacs view cmp fold rev"
    " tr paste column dotenv xargs pbcopy curl gpg openssl age sops python node type get-content gc select-string"
)
"""Programs that read, or send, what they name."""

READS_WHOLE: Final = tables.words("tar zip rsync scp")
"""Programs that read a folder with all that lies in it."""

SAYS: Final = tables.words(
    "-m --message --title --body --notes --grep --search -F --subject -am --description"
)
"""Flags before words for people."""
