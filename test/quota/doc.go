// Package quota tests over HTTP that quotas of namespaces are never exceeded, never refuse below their
// limit, and tell what is used: for every kind of usage, and under concurrency, dry runs and failures.
// What they are after the process was killed is tested in package crash.
package quota
