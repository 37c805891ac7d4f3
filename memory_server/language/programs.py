"""Knowledge of programs: which run others, their other names, which flags are the same, which write files."""

from typing import Final, NamedTuple


class Wrapper(NamedTuple):
    """A program that runs another one, behind its own flags and `skips` words.

    `valued` are flags with a value behind them. Where `plain` is not empty, all flags but those have one.
    """

    valued: frozenset[str] = frozenset()
    skips: int = 0
    plain: frozenset[str] = frozenset()


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_IN_CONTAINER: Final = Wrapper(
    skips=1,
    plain=_set(
        "-i -t -d -it -ti -dit -itd -P -q --rm --privileged --init --interactive --tty --detach --read-only"
        " --no-healthcheck"
        " --quiet --publish-all -T --no-deps --service-ports --build --quiet-pull --use-aliases --no-TTY --sig-proxy"
    ),
)

WRAPPERS: Final[dict[str, Wrapper]] = {
    "sudo": Wrapper(_set("-u -g -h -p -C -r -t -U -D -R -T --user --group --host --prompt --chdir")),
    "doas": Wrapper(_set("-u -C -a")),
    "env": Wrapper(_set("-u -C -S --unset --chdir")),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "command": Wrapper(),
    "builtin": Wrapper(),
    "exec": Wrapper(_set("-a")),
    "time": Wrapper(_set("-f -o --format --output")),
    "nice": Wrapper(_set("-n --adjustment")),
    "ionice": Wrapper(_set("-c -n -p --class --classdata")),
    "chrt": Wrapper(skips=1),
    "taskset": Wrapper(_set("-c"), 1),
    "timeout": Wrapper(_set("-s -k --signal --kill-after"), 1),
    "gtimeout": Wrapper(_set("-s -k --signal --kill-after"), 1),
    "stdbuf": Wrapper(_set("-i -o -e --input --output --error")),
    "unbuffer": Wrapper(),
    "strace": Wrapper(_set("-e -o -p -s -P -u")),
    "ltrace": Wrapper(_set("-e -o -p -s")),
    "caffeinate": Wrapper(_set("-t -w")),
    "xvfb-run": Wrapper(_set("-n -s -e -f -p -w --server-num --server-args --error-file")),
    "coverage run": Wrapper(_set("--source --omit --include --rcfile --data-file --context")),
    "chroot": Wrapper(_set("--userspec --groups"), 1),
    "flock": Wrapper(_set("-w -E --wait --timeout"), 1),
    "watch": Wrapper(_set("-n --interval")),
    "xargs": Wrapper(
        _set("-I -n -P -L -d -E -s -a --max-args --max-procs --replace --delimiter --arg-file --max-lines")
    ),
    "parallel": Wrapper(_set("-j --jobs -I -n -N --delay --retries --colsep -a --arg-file")),
    "entr": Wrapper(),
    "direnv exec": Wrapper(skips=1),
    "dotenv": Wrapper(_set("-e -f -c")),
    "dotenvx run": Wrapper(_set("-f -e")),
    "op run": Wrapper(_set("--env-file --account")),
    "doppler run": Wrapper(_set("-p -c --project --config")),
    "aws-vault exec": Wrapper(_set("-d -t --duration --mfa-token"), 1),
    "chamber exec": Wrapper(skips=1),
    "infisical run": Wrapper(_set("--env --path")),
    "npx": Wrapper(_set("-p --package -w --workspace")),
    "bunx": Wrapper(_set("-p --package")),
    "npm exec": Wrapper(_set("-p --package -w --workspace")),
    "npm x": Wrapper(_set("-p --package")),
    "pnpm exec": Wrapper(_set("-F --filter -C --dir")),
    "pnpm dlx": Wrapper(_set("--package")),
    "yarn exec": Wrapper(),
    "yarn dlx": Wrapper(_set("-p --package")),
    "bun x": Wrapper(),
    "uvx": Wrapper(_set("--from --with -p --python")),
    "uv run": Wrapper(
        _set("--with --extra --group -p --python --env-file --directory --project --package --no-group")
    ),
    "uv tool run": Wrapper(_set("--from --with -p --python")),
    "pipx run": Wrapper(_set("--spec --python")),
    "poetry run": Wrapper(),
    "pipenv run": Wrapper(),
    "pdm run": Wrapper(_set("-p --project")),
    "hatch run": Wrapper(_set("-e --env")),
    "rye run": Wrapper(),
    "conda run": Wrapper(_set("-n -p --name --prefix --cwd")),
    "mamba run": Wrapper(_set("-n -p --name --prefix")),
    "micromamba run": Wrapper(_set("-n -p")),
    "bundle exec": Wrapper(),
    "rbenv exec": Wrapper(),
    "pyenv exec": Wrapper(),
    "asdf exec": Wrapper(),
    "mise exec": Wrapper(_set("-C --cd")),
    "mise x": Wrapper(_set("-C --cd")),
    "rtx exec": Wrapper(),
    "nix-shell": Wrapper(_set("-p -I -A --packages")),
    "nix develop": Wrapper(),
    "devbox run": Wrapper(),
    "heroku run": Wrapper(_set("-a --app -r --remote -s --size")),
    "fly ssh console": Wrapper(_set("-a --app")),
    "docker exec": _IN_CONTAINER,
    "docker run": _IN_CONTAINER,
    "docker compose exec": _IN_CONTAINER,
    "docker compose run": _IN_CONTAINER,
    "podman exec": _IN_CONTAINER,
    "podman run": _IN_CONTAINER,
    "nerdctl exec": _IN_CONTAINER,
    "nerdctl run": _IN_CONTAINER,
    "docker container exec": _IN_CONTAINER,
    "docker container run": _IN_CONTAINER,
    "k3s": Wrapper(),
    "microk8s": Wrapper(),
    "minikube": Wrapper(_set("-p --profile")),
    "nomad alloc exec": Wrapper(_set("-task"), 1),
    "kubectl exec": Wrapper(_set("-n --namespace -c --container --context"), 1),
    "oc exec": Wrapper(_set("-n --namespace -c --container"), 1),
    "vagrant ssh": Wrapper(skips=1),
    "lerna exec": Wrapper(_set("--scope")),
    "turbo exec": Wrapper(),
    "sail": Wrapper(),
    "wsl": Wrapper(_set("-d -u")),
}
"""Programs that run the command behind them."""

OF_IMAGES: Final = _set("docker podman nerdctl")
"""Programs that run an image: the name of one is often that of the program in it, as `hashicorp/terraform`."""

SHOWS: Final = {
    **dict.fromkeys(("make", "gmake"), _set("-n --dry-run --just-print --recon")),
    "just": _set("--show -s --dry-run -n --list -l --summary --evaluate"),
    **dict.fromkeys(("task", "go-task"), _set("--summary --dry -n --list -l")),
    "rake": _set("-n --dry-run -T -P --tasks"),
}
"""Programs that only show what they would do, with one of these flags."""

PASSING: Final = _set(
    "sudo doas env nohup setsid command builtin exec time nice ionice chrt taskset timeout gtimeout stdbuf"
    " unbuffer caffeinate xvfb-run"
)
"""Those of them that change nothing of what the command is."""

OF_TEXT: Final = {
    "ssh": _set("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B"),
}
"""Programs that hand the words behind the first one to a shell elsewhere; their flags with a value."""

SHELLS: Final = _set("sh bash zsh dash ksh ash fish rbash busybox pwsh powershell cmd")

CODE: Final = {
    **dict.fromkeys(("python", "python2", "python3", "py", "pypy3", "ipython"), _set("-c")),
    **dict.fromkeys(("node", "nodejs", "bun", "tsx", "deno"), _set("-e -p --eval --print eval")),
    **dict.fromkeys(("perl", "ruby"), _set("-e -E -ne -pe -pie -i.bak")),
    "php": _set("-r"),
    "lua": _set("-e"),
    "osascript": _set("-e"),
    **dict.fromkeys(("awk", "gawk", "mawk"), frozenset[str]()),
}
"""Programs that run code in another language, and the flags before it. awk takes it first."""

LINE_FLAGS: Final = _set(
    "/c /C /k /K -c --command -lc -ic -ec -xc -euc -exc -lic -ilc -cl -euxc -Command -command -C --run --call"
)
"""Flags before a line of a shell."""

WITH_A_LINE: Final = {
    **dict.fromkeys(("su", "runuser", "script"), LINE_FLAGS),
    "ansible": _set("-a --args"),
}
"""Programs that run the line behind a flag."""

RUNS_A_LINE: Final = {
    **dict.fromkeys(("npx", "npm", "nix-shell", "vagrant", "flock", "nix", "fly"), LINE_FLAGS),
    "env": _set("-S --split-string"),
}
"""Programs that may do so instead of running the command behind them."""

GIT_VALUED: Final = _set("-C -c --git-dir --work-tree --namespace --exec-path")
"""Flags of git before its sub-command that have a value."""

SETTING: Final = _set(
    "ssh-agent direnv pyenv rbenv nodenv fnm brew mise starship zoxide opam luarocks dircolors gpg-agent"
    " conda minikube aws"
    " docker-machine keychain register-python-argcomplete thefuck op fzf atuin vault poetry pipenv npm"
    " kubectl gh lesspipe"
    " doppler"
)
"""Programs whose output an `eval` may take: it sets variables and functions."""

FETCHES: Final = _set(
    "curl wget http https aria2c fetch base64 gbase64 openssl xxd gunzip zcat gzip bunzip2 nc netcat aws gsutil gcloud"
    " python python3 node perl ruby rev tr"
)
"""Programs whose output nobody can know before it runs: piped to a shell, it can be any command."""

NO_SUB_COMMANDS: Final = _set(
    "rm rmdir cp mv ln chmod chown chgrp cat ls curl wget ssh scp rsync kill pkill killall dd psql mysql"
    " mariadb sqlite3 mongo"
    " mongosh redis-cli python python3 python2 node ruby perl php bash sh zsh shutdown reboot halt mkfs tee touch shred"
    " truncate sed awk grep rg find tar zip unzip make gmake just task rake kubectx kubens crontab"
    " iptables ufw nmap wipefs"
    " fdisk parted createdb dropdb dropuser pg_restore pg_dump mongorestore mongodump umount mount open code vim nano"
    " pytest jest vitest tox nox black ruff eslint prettier tsc go-migrate flyway liquibase alembic-cli"
    " gradle gradlew mvn mvnw sbt ant lein rake grunt gulp invoke fastlane go-task"
    " source . export unset"
    " http https env printenv head tail less more"
)
"""Programs whose first word is no more than the others."""

OF_PROJECTS: Final = _set("gradle gradlew sbt kubectl oc k")
"""Programs that may name a project or a kind before what they name: `:core:publish`, `core/publish`, `ns/prod`."""

SAME: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "git": (
        ("-f", "--force"),
        ("-d", "--delete"),
        ("-n", "--no-verify", "--dry-run"),
        ("-a", "--all"),
        ("-u", "--set-upstream"),
        ("-m", "--message", "--move"),
        ("-p", "--patch", "--prune"),
        ("-q", "--quiet"),
        ("-i", "--interactive"),
    ),
    "rm": (("-r", "-R", "--recursive"), ("-f", "--force")),
    "cp": (("-r", "-R", "--recursive"), ("-f", "--force")),
    "mv": (("-f", "--force"),),
    "ln": (("-f", "--force"), ("-s", "--symbolic")),
    "chmod": (("-R", "--recursive"),),
    "chown": (("-R", "--recursive"),),
    "curl": (
        ("-X", "--request"),
        ("-k", "--insecure"),
        ("-d", "--data"),
        ("-T", "--upload-file"),
        ("-u", "--user"),
    ),
    "docker": (
        ("-f", "--force"),
        ("-a", "--all"),
        ("-v", "--volumes"),
        ("-t", "--timeout"),
        ("-d", "--detach"),
    ),
    "npm": (("-g", "--global"), ("-f", "--force"), ("-D", "--save-dev")),
    "pnpm": (("-g", "--global"), ("-f", "--force"), ("-D", "--save-dev")),
    "kubectl": (
        ("-A", "--all-namespaces"),
        ("-n", "--namespace"),
        ("-f", "--filename"),
        ("-l", "--selector"),
    ),
    "helm": (("-n", "--namespace"), ("-f", "--values"), ("-i", "--install")),
    "apt": (("-y", "--yes", "--assume-yes"),),
    "apt-get": (("-y", "--yes", "--assume-yes"),),
    "pip": (("-U", "--upgrade"), ("-y", "--yes"), ("-r", "--requirement")),
    "psql": (
        ("-c", "--command"),
        ("-f", "--file"),
        ("-d", "--dbname"),
        ("-h", "--host"),
        ("-U", "--username"),
    ),
    "mysql": (("-e", "--execute"), ("-h", "--host"), ("-u", "--user"), ("-D", "--database")),
    "rsync": (("-r", "--recursive"), ("-n", "--dry-run")),
    "gh": (("-R", "--repo"), ("-y", "--yes")),
    "cargo": (("-r", "--release"), ("-p", "--package")),
    "firebase": (("-P", "--project"), ("-f", "--force")),
    "vercel": (("-y", "--yes"), ("-p", "--prod")),
    "netlify": (("-p", "--prod"), ("-d", "--dir")),
    "ansible-playbook": (("-i", "--inventory"), ("-C", "--check"), ("-l", "--limit")),
    "redis-cli": (("-n", "--db"),),
    "kill": (("-9", "-KILL", "-SIGKILL"),),
    "pkill": (("-9", "-KILL", "-SIGKILL"), ("-f", "--full")),
    "heroku": (("-a", "--app"), ("-c", "--confirm")),
    "stripe": (("-d", "--data"),),
}
"""Flags of a program that mean the same."""

SUB_COMMANDS: Final[dict[str, dict[str, str]]] = {
    "npm": {
        "i": "install",
        "run-script": "run",
        "un": "uninstall",
        "rm": "uninstall",
        "t": "test",
        "rum": "run",
        "up": "update",
    },
    "pnpm": {"i": "install", "rm": "remove", "up": "update", "run-script": "run"},
    "bun": {"i": "install", "a": "add", "rm": "remove"},
    "cargo": {"b": "build", "r": "run", "t": "test"},
    "kubectl": {
        "ns": "namespace",
        "namespaces": "namespace",
        "po": "pod",
        "pods": "pod",
        "deploy": "deployment",
        "deployments": "deployment",
        "svc": "service",
        "services": "service",
        "sts": "statefulset",
        "pvc": "persistentvolumeclaim",
        "secrets": "secret",
        "cm": "configmap",
        "crds": "crd",
        "nodes": "node",
        "no": "node",
    },
    "docker": {"container": "", "image": "", "ps": "ls"},
    "pulumi": {"update": "up", "down": "destroy"},
    "serverless": {},
    "gh": {"repository": "repo"},
    "rustup": {"remove": "uninstall"},
    "yarn": {"run": ""},
    "hg": {"ci": "commit", "up": "update"},
    "svn": {"ci": "commit"},
    "supabase": {},
}
"""Other words for a sub-command or what it works on; '' where it may be left out."""

PROGRAMS: Final = {
    "docker-compose": ("docker", "compose"),
    "nodejs": ("node",),
    "gradlew": ("gradle",),
    "mvnw": ("mvn",),
    "sls": ("serverless",),
    "hub": ("git",),
    "podman": ("docker",),
    "nerdctl": ("docker",),
    "tofu": ("terraform",),
    "k": ("kubectl",),
    "oc": ("kubectl",),
    "mariadb": ("mysql",),
    "gmake": ("make",),
    "unlink": ("rm",),
    "apt-get": ("apt",),
    "aptitude": ("apt",),
    "ntl": ("netlify",),
    "tf": ("terraform",),
    "go-task": ("task",),
    "mamba": ("conda",),
    "micromamba": ("conda",),
    "aws-cdk": ("cdk",),
    "aws-cli": ("aws",),
    "firebase-tools": ("firebase",),
}
"""Programs that do what another one does, with the words behind its name."""

SCRIPTS: Final = _set("yarn pnpm bun")
"""Programs that run a program of the project where their first word is no command of their own."""

OF_PACKAGES: Final = _set(
    "install i add a remove rm un uninstall update up upgrade run test t start exec dlx x publish init"
    " create link unlink why"
    " list ls outdated audit pack cache config info login logout workspace workspaces version dedupe set"
    " import fetch prune"
)

WHOLE: Final = _set("rm unlink shred mv chmod chown chgrp trash rsync remove-item move-item del erase rd")
"""Programs that write, move or delete what they name with all that lies in it."""

WRITES: Final = _set(
    "rmdir truncate touch tee sponge patch ln black set-content add-content out-file clear-content new-item"
)
"""Programs that write what they name."""

WRITES_LAST: Final = _set("cp install scp")
"""Programs that write the last file that they name."""

WRITES_WITH: Final = {
    "sed": ("-i", "--in-place", "-i.bak", "-i''", "-ni", "-Ei", "-ri", "-i.orig"),
    "gsed": ("-i", "--in-place", "-i.bak"),
    "perl": ("-i", "-pi", "-pi.bak", "-i.bak", "-pie", "-p0i", "-0pi", "-i.orig"),
    "ruby": ("-i", "-pi"),
    "awk": ("-i",),
    "prettier": ("--write", "-w"),
    "eslint": ("--fix",),
    "ruff": ("--fix", "format"),
    "gofmt": ("-w",),
    "yq": ("-i", "--inplace"),
    "sqlite3": ("*",),
    "sort": ("-o",),
    "curl": ("-o", "-O", "--output"),
    "wget": ("-O",),
    "find": ("-delete", "-exec", "-execdir", "-ok"),
    "dos2unix": ("*",),
}
"""Programs that write what they name, with one of these flags."""

GIT_WRITES: Final = _set("rm mv checkout restore clean apply")

READS: Final = _set(
    "cat less more head tail bat batcat grep egrep rg ag awk gawk sed cut sort uniq wc strings xxd od"
    " hexdump base64 tac nl cp mv"
    " scp rsync source . tar zip diff jq yq open code vim vi nvim nano emacs view cmp fold rev tr paste"
    " column dotenv xargs"
    " pbcopy curl gpg openssl age sops python node type get-content gc select-string"
)
"""Programs that read, or send, what they name."""

READS_WHOLE: Final = _set("tar zip rsync scp")
"""Programs that read a folder with all that lies in it."""

SAYS: Final = _set("-m --message --title --body --notes --grep --search -F --subject -am --description")
"""Flags before words for people."""
