package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// readChanged calls take with each item of the state at a revision. Unchanged items come from the
// copy, and changed items from the servers.
func (l *Log) readChanged(ctx context.Context, revision int64, copied []persist.Item, take func(persist.Item) error) error {
	return l.readPages(ctx, l.keys.objects(), revision, []clientv3.OpOption{clientv3.WithKeysOnly()}, func(page []*mvccpb.KeyValue) error {
		items := make([]persist.Item, len(page))
		var missing []int
		for n, kv := range page {
			key := trimKey(kv.Key, l.keys.objects())
			for len(copied) > 0 && copied[0].Key < key {
				copied = copied[1:] // the key was deleted
			}
			if len(copied) > 0 && copied[0].Key == key && l.revisions.etcd(copied[0].Revision) == kv.ModRevision {
				items[n] = copied[0]
			} else {
				missing = append(missing, n)
			}
		}
		if err := l.readMissing(ctx, changedPage{revision, page, items}, missing); err != nil {
			return err
		}
		return takeAll(items, take)
	})
}

type changedPage struct {
	revision int64
	keys     []*mvccpb.KeyValue
	items    []persist.Item
}

// readMissing reads the missing keys of a page. It reads many missing keys as one range, and a few
// missing keys in small groups.
func (l *Log) readMissing(ctx context.Context, page changedPage, missing []int) error {
	const many = 4 // as a fraction of the page
	if len(missing) > len(page.keys)/many {
		between := page.keys[missing[0] : missing[len(missing)-1]+1]
		first, end := string(between[0].Key), string(between[len(between)-1].Key)+"\x00"
		return l.readThese(ctx, page, missing, clientv3.OpGet(first, clientv3.WithRange(end), clientv3.WithRev(page.revision)))
	}
	for some := range slices.Chunk(missing, minOps) {
		ops := make([]clientv3.Op, len(some))
		for i, n := range some {
			ops[i] = clientv3.OpGet(string(page.keys[n].Key), clientv3.WithRev(page.revision))
		}
		if err := l.readThese(ctx, page, some, ops...); err != nil {
			return err
		}
	}
	return nil
}

// readThese sends ops in one transaction and stores the results in page.items. these contains the
// indexes of the items in ascending order.
func (l *Log) readThese(ctx context.Context, page changedPage, these []int, ops ...clientv3.Op) error {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	found, err := l.client.Txn(ctx).Then(ops...).Commit()
	if err != nil {
		return l.readError(page.revision, err)
	}
	for _, response := range found.Responses {
		kvs := response.GetResponseRange().Kvs
		l.countRead(kvs)
		for _, kv := range kvs {
			if len(these) == 0 || !bytes.Equal(kv.Key, page.keys[these[0]].Key) {
				continue // the item is in the copy
			}
			n := these[0]
			these = these[1:]
			if page.items[n] = l.itemOf(kv); errors.Is(page.items[n].Err, errClosed) {
				return page.items[n].Err
			}
		}
	}
	if len(these) > 0 {
		return fmt.Errorf("etcd: %s is missing at revision %d, where it was listed", page.keys[these[0]].Key, page.revision)
	}
	return nil
}
