# Prints what `kubectl wait --for=delete` says when the finalizer of configmap/held goes
# while it watches.
kubectl delete -n shop configmap held --wait=false
kubectl wait -n shop --for=delete configmap/held --timeout=60s -v=6 >wait.out 2>wait.log &
waiter=$!
n=0
until grep -q 'watch=true' wait.log; do
	n=$((n + 1))
	[ $n -gt 600 ] && echo "no watch in time" && break
	sleep 0.1
done
kubectl patch -n shop configmap held --type=json -p '[{"op":"remove","path":"/metadata/finalizers"}]'
wait $waiter
code=$?
cat wait.out
exit $code
