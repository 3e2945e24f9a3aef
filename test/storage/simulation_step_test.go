package storage

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/troupe-api/troupe/test/client"
)

var none value

func valueOfSimulation(o client.Object) value {
	return value{o.Data("n"), o.Data("sum"), o.Data("a"), o.Data("b"), o.Data("c")}
}

// patched returns a copy of v with one field changed.
func (v value) patched(field, text string) value {
	switch field {
	case "a":
		v.a = text
	case "b":
		v.b = text
	default:
		v.c = text
	}
	return v
}

// read checks that the model allows the value of an object, and records it as the only possible
// value.
func (k *simulationKey) read(o client.Object) error {
	found := valueOfSimulation(o)
	if found != k.is && !slices.Contains(k.maybe, found) {
		return fmt.Errorf("%s is %+v, was acknowledged as %+v, may be %+v", k.name, found, k.is, k.maybe)
	}
	if found == k.is && k.is != none && o.Version() != k.version && k.version != 0 {
		return fmt.Errorf("%s is at version %d, was acknowledged at %d", k.name, o.Version(), k.version)
	}
	k.is, k.version, k.maybe = found, o.Version(), nil
	return nil
}

func (h *simulationHistory) step(ctx context.Context, s *server) error {
	k := h.keys[h.random.IntN(len(h.keys))]
	switch label := h.random.IntN(20); {
	case label == 0:
		h.clock.jump(time.Duration(h.random.IntN(7200)-3600) * time.Second)
		return nil
	case label == 1:
		return h.check(ctx, s)
	case label == 2 || label == 3:
		return h.promise(ctx, s, k)
	case k.maybe != nil: // only the next life knows: a write may still be pending
		return nil
	case label < 5:
		return h.get(ctx, s, k)
	case label < 7 && k.is != none:
		return h.stale(ctx, s, k)
	case label < 10 && k.is != none:
		return h.together(ctx, s, k)
	}
	return h.write(ctx, s, k)
}

func (h *simulationHistory) get(ctx context.Context, s *server, k *simulationKey) error {
	a, err := s.Get(ctx, configMaps+"/"+k.name)
	switch {
	case err != nil:
		return err
	case a.Code == 404:
		return k.read(client.Object{})
	case a.Code != 200:
		return fmt.Errorf("get %s: %v", k.name, a)
	}
	return k.read(a.Object())
}

// check lists all objects in chunks and compares them with the model.
func (h *simulationHistory) check(ctx context.Context, s *server) error {
	found, token, remain := map[string]client.Object{}, "", -1
	for first := true; first || token != ""; first = false {
		a, err := s.Get(ctx, configMaps+"?limit=2&continue="+token)
		if err != nil || a.Code != 200 {
			return fmt.Errorf("list: %v, %w", a, err)
		}
		items := a.Object()["items"].([]any)
		for _, item := range items {
			o := client.Object(item.(map[string]any))
			if found[o.Name()] != nil || o.Metadata()["namespace"] != "default" {
				return fmt.Errorf("a list of default has %v, which came before or is another's", o)
			}
			found[o.Name()] = o
		}
		token, _ = a.Object().Metadata()["continue"].(string)
		left, _ := a.Object().Metadata()["remainingItemCount"].(float64)
		if remain >= 0 && int(left) != remain-len(items) || (left > 0) != (token != "") {
			return fmt.Errorf("a page of %d objects says that %v remain, the one before said %d", len(items), left, remain)
		}
		remain = int(left)
	}
	for _, k := range h.keys {
		if k.maybe != nil {
			continue
		}
		if err := k.read(found[k.name]); err != nil {
			return fmt.Errorf("in a list: %w", err)
		}
	}
	return nil
}

func (h *simulationHistory) object(k *simulationKey) (client.Object, value) {
	h.writes++
	v := value{n: strconv.Itoa(h.writes)}
	v.sum = strings.Repeat(v.n+".", 1+h.random.IntN(120))
	return client.ConfigMap(k.name, map[string]string{"half": halfOf(v.n)}, map[string]string{"n": v.n, "sum": v.sum}), v
}

// write creates, updates or deletes an object. The network may lose the response.
func (h *simulationHistory) write(ctx context.Context, s *server, k *simulationKey) error {
	o, want := h.object(k)
	code := 200
	method, path, body := http.MethodPut, configMaps+"/"+k.name, any(o)
	switch {
	case k.is == none:
		method, path, code = http.MethodPost, configMaps, 201
	case h.random.IntN(3) == 0:
		method, body, want = http.MethodDelete, nil, none
	default:
		o.Metadata()["resourceVersion"] = strconv.FormatUint(k.version, 10)
	}
	if h.random.IntN(8) == 0 {
		s.network.loses.Store(true)
	}
	a, err := s.Do(ctx, method, path, client.JSON, body)
	s.network.loses.Store(false)
	return h.settle(k, a, err, code, want)
}

// settle updates the model with the response to a write.
func (h *simulationHistory) settle(k *simulationKey, a client.Answer, err error, code int, want value) error {
	switch {
	case err != nil:
		h.lost++
		k.maybe = []value{want}
		return nil
	case a.Code == 507:
		h.full++
		return nil
	case a.Code >= 500:
		k.maybe = []value{want}
		return errEnded
	case a.Code != code:
		return fmt.Errorf("%s in %+v: %v, want %d", k.name, k.is, a, code)
	}
	h.acknowledged++
	if k.is, k.version = want, 0; want == none {
		return nil
	}
	k.version = a.Object().Version()
	if found := valueOfSimulation(a.Object()); found != want {
		return fmt.Errorf("%s is answered as %+v, want %+v", k.name, found, want)
	}
	return h.observeVersion(k.version)
}

// stale updates an object with an outdated resource version, or creates one that exists. Either
// request must conflict and have no effect.
func (h *simulationHistory) stale(ctx context.Context, s *server, k *simulationKey) error {
	o, _ := h.object(k)
	method, path := http.MethodPost, configMaps
	if h.random.IntN(2) == 0 {
		o.Metadata()["resourceVersion"] = strconv.FormatUint(k.version-1, 10)
		method, path = http.MethodPut, configMaps+"/"+k.name
	}
	a, err := s.Do(ctx, method, path, client.JSON, o)
	if err == nil && a.Code >= 500 && a.Code != 507 {
		return errEnded
	}
	if err != nil || a.Code != 409 && a.Code != 507 {
		return fmt.Errorf("%s %s at %d beside %d: %v, %w", method, k.name, k.version-1, k.version, a, err)
	}
	return h.get(ctx, s, k)
}

// together patches three fields concurrently. All patches must be applied.
func (h *simulationHistory) together(ctx context.Context, s *server, k *simulationKey) error {
	h.writes++
	n := strconv.Itoa(h.writes)
	var running sync.WaitGroup
	answers, faults := make([]client.Answer, 3), make([]error, 3)
	for i, field := range fields {
		running.Go(func() {
			answers[i], faults[i] = s.Patch(ctx, configMaps+"/"+k.name, map[string]any{"data": map[string]string{field: n + field}})
		})
	}
	running.Wait()
	if done, err := h.partly(k, answers, faults, n); done || err != nil {
		return err
	}
	h.acknowledged += 3
	a, err := s.Get(ctx, configMaps+"/"+k.name)
	if err != nil || a.Code != 200 {
		return fmt.Errorf("%s after three patches: %v, %w", k.name, a, err)
	}
	for _, field := range fields {
		if a.Object().Data(field) != n+field {
			return fmt.Errorf("a patch of %s is lost: %v", k.name, a)
		}
	}
	k.is, k.version = valueOfSimulation(a.Object()), a.Object().Version()
	return nil
}

var fields = []string{"a", "b", "c"}

// partly updates the model with the responses to concurrent patches. done reports whether any patch
// failed. A patch rejected because of a full disk was not applied. After any other failure, the
// outcome is unknown until the server restarts.
func (h *simulationHistory) partly(k *simulationKey, answers []client.Answer, faults []error, n string) (done bool, err error) {
	can := []value{k.is}
	ended := false
	for i, field := range fields {
		with := make([]value, len(can))
		for at, v := range can {
			with[at] = v.patched(field, n+field)
		}
		switch a := answers[i]; {
		case faults[i] == nil && a.Code == 200:
			h.newest = max(h.newest, a.Object().Version())
			can = with
		case faults[i] == nil && a.Code == 507:
			h.full, done = h.full+1, true
		case faults[i] == nil && a.Code < 500:
			return true, fmt.Errorf("one of three patches of %s: %v", k.name, a)
		default:
			can, done, ended = append(can, with...), true, true
		}
	}
	if done {
		k.is, k.maybe, k.version = can[0], can[1:], 0
	}
	if ended {
		return true, errEnded
	}
	return done, nil
}
