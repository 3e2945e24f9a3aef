package etcd

import (
	"context"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/troupe-api/troupe/persist"
)

// EnsureLabel sets a store property, such as the naming profile, if it is not set, and returns the
// stored value. If several logs call EnsureLabel concurrently, all of them get the same value.
func (l *Log) EnsureLabel(ctx context.Context, name, value string) (present string, err error) {
	ctx, cancel := bounded(ctx, l.o.WriteTimeout)
	defer cancel()
	key := l.keys.labels() + name
	absent := clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
	done, err := l.client.Txn(ctx).If(absent).Then(clientv3.OpPut(key, value)).Else(clientv3.OpGet(key)).Commit()
	switch {
	case err != nil:
		return "", l.unavailable(err)
	case done.Succeeded:
		return value, nil
	}
	return string(done.Responses[0].GetResponseRange().Kvs[0].Value), nil
}

// secretPlace returns a key below /secrets/, so that the Transformer encrypts the value like a
// Secret.
func secretPlace(name string) persist.Place {
	return persist.Place{Key: "/secrets//" + name, Unversioned: true}
}

// Secret returns the value stored by EnsureSecret, or nil.
func (l *Log) Secret(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := bounded(ctx, l.o.WriteTimeout)
	defer cancel()
	found, err := l.client.Get(ctx, l.keys.secrets()+name)
	if err != nil {
		return nil, l.unavailable(err)
	}
	if len(found.Kvs) == 0 {
		return nil, nil
	}
	return l.decodeSecret(name, found.Kvs[0].Value)
}

// EnsureSecret stores a secret shared by all logs if it does not exist, and returns the stored
// secret. The Transformer encodes it.
func (l *Log) EnsureSecret(ctx context.Context, name string, value []byte) (present []byte, err error) {
	place := secretPlace(name)
	if t := l.o.Transformer; t != nil {
		if err := t.Check(place.Key); err != nil {
			return nil, &persist.TransformError{Key: place.Key, Cause: err}
		}
	}
	ctx, cancel := bounded(ctx, l.o.WriteTimeout)
	defer cancel()
	key := l.keys.secrets() + name
	absent := clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
	stored := string(l.encodeAppend(nil, place, value))
	done, err := l.client.Txn(ctx).If(absent).Then(clientv3.OpPut(key, stored)).Else(clientv3.OpGet(key)).Commit()
	switch {
	case err != nil:
		return nil, l.unavailable(err)
	case done.Succeeded:
		return value, nil
	}
	return l.decodeSecret(name, done.Responses[0].GetResponseRange().Kvs[0].Value)
}

func (l *Log) decodeSecret(name string, stored []byte) ([]byte, error) {
	value, err := l.decode(secretPlace(name), stored)
	if err != nil {
		return nil, fmt.Errorf("etcd: cannot read the shared secret %q: %w", name, err)
	}
	return value, nil
}
