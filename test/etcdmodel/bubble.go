package etcdmodel

import (
	_ "unsafe" // for go:linkname

	_ "go.etcd.io/etcd/client/v3" // which must be initialized first
)

// never is a channel in the etcd client that is never closed. A goroutine of each watch waits for
// it, which keeps time in a bubble of testing/synctest from advancing, because the channel is not
// of the bubble. A nil channel means the same and needs no goroutine.
//
//go:linkname never go.etcd.io/etcd/client/v3.valCtxCh
var never chan struct{}

func init() { never = nil }
