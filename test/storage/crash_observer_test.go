package storage

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/troupe-api/troupe/test/client"
)

// A crashObserver records the watch events of all test objects.
type crashObserver struct {
	from   uint64 // resource version from which the watch was started
	events []client.Event
}

// errExpired means that a watch's resourceVersion is older than the watch history.
var errExpired = errors.New("the version of the watch has expired")

// watch reads events until it reaches version end. If end is 0, it reads until the connection
// breaks.
func (o *crashObserver) watch(ctx context.Context, c *client.Client, end uint64) error {
	w, err := c.Watch(ctx, configMaps, url.Values{"resourceVersion": {strconv.FormatUint(o.from, 10)}})
	if answer := (*client.Answer)(nil); errors.As(err, &answer) {
		return err
	} else if err != nil {
		return broken(end, err)
	}
	defer w.Close()
	for last := o.from; end == 0 || last < end; {
		e, err := w.Next()
		if err != nil {
			return broken(end, err)
		}
		if e.Code() == 410 {
			return errExpired
		}
		if e.Type == client.Error || e.Object.Version() <= last {
			return fmt.Errorf("after version %d: %s %v", last, e.Type, e.Object)
		}
		last = e.Object.Version()
		o.events = append(o.events, e)
	}
	return nil
}

// broken returns an error if a watch ended before version end. If end is 0, it returns nil, because
// the daemon is killed during such a watch.
func broken(end uint64, err error) error {
	if end == 0 {
		return nil
	}
	return fmt.Errorf("watching up to version %d: %w", end, err)
}

func (o *crashObserver) after(version uint64) []client.Event {
	for i, e := range o.events {
		if e.Object.Version() > version {
			return o.events[i:]
		}
	}
	return nil
}

// newest returns the resource version of the last event, or the initial version if there is none.
func (o *crashObserver) newest() uint64 {
	if len(o.events) == 0 {
		return o.from
	}
	return o.events[len(o.events)-1].Object.Version()
}

// applyEvents applies watch events to a map of objects by name. It returns an error if an event
// contradicts the map, such as the deletion of a missing object.
func applyEvents(state map[string]string, events []client.Event) error {
	for _, e := range events {
		_, was := state[e.Object.Name()]
		if was == (e.Type == client.Added) {
			return fmt.Errorf("%s of an object that was there: %v: %v", e.Type, was, e.Object)
		}
		if state[e.Object.Name()] = e.Object.String(); e.Type == client.Deleted {
			delete(state, e.Object.Name())
		}
	}
	return nil
}
