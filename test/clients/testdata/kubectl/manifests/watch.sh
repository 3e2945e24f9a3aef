# Prints what `kubectl get "$@" --watch` says of configmap/a before and after a change.
: >watch.out
kubectl get "$@" --watch >watch.out 2>&1 &
watcher=$!
lines() {
	n=0
	while [ "$(wc -l <watch.out)" -lt "$1" ]; do
		n=$((n + 1))
		[ $n -gt 600 ] && echo "no line $1 in time" && break
		sleep 0.1
	done
}
lines 1
kubectl patch -n shop configmap a --type=merge -p "{\"data\":{\"seen\":\"$$\"}}" >/dev/null
lines 2
kill $watcher
wait $watcher 2>/dev/null
cat watch.out
