# Prints what `kubectl delete` says of configmap/held, whose finalizer goes while it waits.
kubectl delete -n shop configmap held --timeout=300s >gone.out 2>&1 &
deleter=$!
n=0
until grep -qs deleted gone.out; do
	n=$((n + 1))
	[ $n -gt 600 ] && echo "not marked in time" && break
	sleep 0.1
done
kubectl patch -n shop configmap held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
wait $deleter
code=$?
cat gone.out
exit $code
