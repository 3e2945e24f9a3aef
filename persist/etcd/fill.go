package etcd

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// ErrNotEmpty is returned by Fill if the prefix has keys.
var ErrNotEmpty = errors.New("keys already exist: choose another prefix")

// Content is the initial content of a store that Fill creates.
type Content struct {
	Labels   map[string]string // as in EnsureLabel
	Secrets  map[string][]byte // as in EnsureSecret
	Revision persist.Revision  // lower bound for the store's revisions
	// Items passes each object to yield. value lacks the object's revision, which belongs at
	// revisionOffset (see persist.Write.RevisionOffset).
	Items func(yield func(key string, value []byte, revisionOffset int) error) error
}

// Fill creates a store in an empty prefix from the content returned by read. While Fill runs, a
// marker key makes Open reject the prefix. If Fill is interrupted, the next Fill starts over, and
// the interrupted one can no longer write. If read fails, Fill removes the marker.
func Fill(ctx context.Context, o Options, read func() (Content, error)) (err error) {
	o = o.withDefaults()
	if err := o.Validate(); err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	client, err := connect(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return newFiller(o, client).run(ctx, read)
}

func newFiller(o Options, client *clientv3.Client) *filler {
	return &filler{Log: &Log{o: o, client: client, keys: keys{o.Prefix}}}
}

func (f *filler) run(ctx context.Context, read func() (Content, error)) error {
	if err := f.explained(ctx, f.begin); err != nil {
		return err
	}
	c, err := read()
	if err != nil {
		return errors.Join(err, f.end(context.WithoutCancel(ctx)))
	}
	if err := f.fill(ctx, c); err != nil {
		return err
	}
	return f.end(ctx)
}

func (f *filler) end(ctx context.Context) error {
	return f.commit(ctx, clientv3.OpDelete(f.keys.filling()))
}

// commit applies operations unless another Fill has replaced the marker.
func (f *filler) commit(ctx context.Context, ops ...clientv3.Op) error {
	ctx, cancel := bounded(ctx, f.o.WriteTimeout)
	defer cancel()
	done, err := f.client.Txn(ctx).If(f.own).Then(ops...).Commit()
	if err == nil && !done.Succeeded {
		err = fmt.Errorf("another migration to %s has begun", f.keys.prefix)
	}
	return err
}

func (f *filler) fill(ctx context.Context, c Content) error {
	base := alignBase(c.Revision + 1)
	if err := f.add(ctx, f.keys.format(), []byte(encodeFormat(base)), nil, nil); err != nil {
		return err
	}
	for name, value := range c.Labels {
		if err := f.add(ctx, f.keys.labels()+name, []byte(value), nil, nil); err != nil {
			return err
		}
	}
	for name, value := range c.Secrets {
		place := secretPlace(name)
		if err := f.add(ctx, f.keys.secrets()+name, value, &place, nil); err != nil {
			return err
		}
	}
	err := c.Items(func(key string, value []byte, offset int) error {
		return f.add(ctx, f.keys.object(key), value, &persist.Place{Key: key}, func(position byte) []byte { return appendHead(nil, position, offset) })
	})
	if err == nil {
		err = f.send(ctx)
	}
	return err
}

type filler struct {
	*Log
	own   clientv3.Cmp // the marker is still that of this Fill
	ops   []clientv3.Op
	bytes int
}

// fillOps is the number of keys per transaction. It is below maxWrites and etcd's default limit
// (--max-txn-ops).
const fillOps = 100

// begin marks the prefix. It removes the keys of an interrupted Fill and returns ErrNotEmpty if
// there are other keys.
func (f *filler) begin(ctx context.Context) error {
	f.ops = make([]clientv3.Op, 0, fillOps)
	open, cancel := bounded(ctx, openTimeout)
	defer cancel()
	if err := f.checkVersions(open); err != nil {
		return err
	}
	mark := f.keys.filling()
	found, err := f.client.Get(open, f.keys.all(), clientv3.WithPrefix(), clientv3.WithLimit(1), clientv3.WithKeysOnly())
	if err != nil {
		return f.unavailable(err)
	}
	marked, err := f.client.Get(open, mark)
	switch {
	case err != nil:
		return f.unavailable(err)
	case len(found.Kvs) > 0 && len(marked.Kvs) == 0:
		return fmt.Errorf("etcd: %s: %w", f.keys.prefix, ErrNotEmpty)
	}
	// Keep the mark, because it makes Open reject the prefix until all other keys are deleted.
	for _, part := range [][2]string{{f.keys.all(), mark}, {mark + "\x00", clientv3.GetPrefixRangeEnd(f.keys.all())}} {
		if _, err := f.client.Delete(open, part[0], clientv3.WithRange(part[1])); err != nil {
			return f.unavailable(err)
		}
	}
	absent := clientv3.Compare(clientv3.CreateRevision(f.keys.format()), "=", 0)
	marking, err := f.client.Txn(open).If(absent).Then(clientv3.OpPut(mark, "")).Commit()
	switch {
	case err != nil:
		return f.unavailable(err)
	case !marking.Succeeded: // a daemon has created a store in the meantime
		return fmt.Errorf("etcd: %s: %w", f.keys.prefix, ErrNotEmpty)
	}
	f.own = clientv3.Compare(clientv3.ModRevision(mark), "=", marking.Header.Revision)
	return nil
}

// encodingBytes is an upper bound for the bytes that a Transformer adds to a value.
const encodingBytes = 1 << 10

// add adds a key to the current transaction, after sending a full one. If place is set, the
// Transformer encodes the value. head returns the header of a value, given its position in the
// transaction.
func (f *filler) add(ctx context.Context, key string, value []byte, place *persist.Place, head func(position byte) []byte) error {
	size := len(key) + len(value) + encodingBytes
	if len(f.ops) > 0 && (f.bytes+size > defaultMaxBytes || len(f.ops) == cap(f.ops)) {
		if err := f.send(ctx); err != nil {
			return err
		}
	}
	var stored []byte
	if head != nil {
		stored = head(byte(len(f.ops)))
	}
	if place == nil {
		stored = append(stored, value...)
	} else {
		if t := f.o.Transformer; t != nil {
			if err := t.Check(place.Key); err != nil {
				return &persist.TransformError{Key: place.Key, Cause: err}
			}
		}
		stored = f.encodeAppend(stored, *place, value)
	}
	f.ops, f.bytes = append(f.ops, clientv3.OpPut(key, string(stored))), f.bytes+size
	return nil
}

func (f *filler) send(ctx context.Context) error {
	if len(f.ops) == 0 {
		return nil
	}
	if err := f.commit(ctx, f.ops...); err != nil {
		return fmt.Errorf("%d keys, the first of them %s: %w", len(f.ops), f.ops[0].KeyBytes(), errors.Join(refusal(err), err))
	}
	f.ops, f.bytes = f.ops[:0], 0
	return nil
}

// Export calls items with each item of the newest state and returns that state's revision. Other
// logs may write concurrently.
func (l *Log) Export(ctx context.Context, items func(persist.Item) error) (persist.Revision, error) {
	revision, err := l.currentRevision(ctx)
	if err != nil {
		return 0, err
	}
	return l.revisions.upTo(revision), l.readItems(ctx, "", revision, items)
}

// Labels returns all labels set by EnsureLabel.
func (l *Log) Labels(ctx context.Context) (map[string]string, error) {
	ctx, cancel := bounded(ctx, l.o.WriteTimeout)
	defer cancel()
	found, err := l.client.Get(ctx, l.keys.labels(), clientv3.WithPrefix())
	if err != nil {
		return nil, l.unavailable(err)
	}
	labels := map[string]string{}
	for _, kv := range found.Kvs {
		labels[trimKey(kv.Key, l.keys.labels())] = string(kv.Value)
	}
	return labels, nil
}
