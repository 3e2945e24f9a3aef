package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/troupe-api/troupe/bench/internal/server"
)

// certificateUser is the user of client certificates.
const certificateUser = "bench-user"

// caller is one way to prove who asks. Each has its own credential and so its own way through
// authentication.
type caller struct {
	name   string
	target *server.Target
}

// roles is the RBAC of a fixture's namespace: one Role, that reads ConfigMaps, and its bindings. early must
// stay zero: a right counts from the answer on.
type roles struct {
	fixture *fixture
	group   string       // API group
	tokens  string       // that of the requests for tokens
	early   atomic.Int64 // requests of visitors that were refused after they had got their right
}

// account is the service account of the namespace that is bound with every user.
const account = "bench"

// The groups are looked up, as their names depend on the server's naming profile.
func (f *fixture) roles() (*roles, error) {
	group, err := f.session.group("rbac.authorization")
	if err != nil {
		return nil, err
	}
	r := &roles{fixture: f, group: group}
	if r.tokens, err = f.session.group("authentication"); err != nil {
		return nil, err
	}
	f.otherCollections = append(f.otherCollections, r.path("rolebindings"), r.path("roles"))
	c := f.session.Target.Conn()
	defer c.Close()
	role := fmt.Appendf(nil, `{"apiVersion":"%s/v1","kind":"Role","metadata":{"name":"reader"},"rules":[{"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]}]}`, group)
	if _, err := c.Expect(http.StatusCreated, http.MethodPost, r.path("roles"), server.TypeJSON, role); err != nil {
		return nil, err
	}
	return r, f.addAccount(c, account)
}

// accounts is the collection of the service accounts. They go with the namespace.
func (f *fixture) accounts() string { return f.namespacePath() + "/serviceaccounts" }

// addAccount makes a service account. Its token comes later, by a request of its own.
func (f *fixture) addAccount(c *server.Conn, name string) error {
	body := fmt.Appendf(nil, `{"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":%q}}`, name)
	_, err := c.Expect(http.StatusCreated, http.MethodPost, f.accounts(), server.TypeJSON, body)
	return err
}

// subject is a service account as bindings name it. It is a part of JSON, to be put into a list.
func (f *fixture) subject(account string) []byte {
	return fmt.Appendf(nil, `{"kind":"ServiceAccount","name":%q,"namespace":%q}`, account, f.namespace)
}

// path is that of a collection of the RBAC group in the namespace.
func (r *roles) path(resource string) string {
	return fmt.Sprintf("/apis/%s/v1/namespaces/%s/%s", r.group, r.fixture.namespace, resource)
}

// callers are the credentials to measure: those that the server is known to accept. What is left out is
// noted, so a missing row has an explanation.
func (r *roles) callers() ([]caller, error) {
	s := r.fixture.session
	var all []caller
	if s.Identity.Certificates() {
		certificate, err := s.Identity.Certificate(certificateUser)
		if err != nil {
			return nil, err
		}
		all = append(all, caller{"certificate", s.Target.As(&certificate, "")})
	} else {
		s.Note("auth: no certificates of plain users, because no CA is known that %s accepts (--user-ca)", s.Target.Address)
	}
	c := s.Target.Conn()
	defer c.Close()
	token, err := r.token(c, account)
	if err != nil {
		return nil, err
	}
	all = append(all, caller{"service account", s.Target.As(nil, token)})
	if s.Identity != nil && s.Identity.Token != "" {
		all = append(all, caller{"static token", s.Target.As(nil, s.Identity.Token)})
	} else {
		s.Note("auth: no static token, because none is known that %s accepts (--user-token)", s.Target.Address)
	}
	return all, nil
}

// token asks for a token of a service account. It lasts two hours, longer than any workload.
func (r *roles) token(c *server.Conn, account string) (string, error) {
	body := fmt.Appendf(nil, `{"apiVersion":"%s/v1","kind":"TokenRequest","spec":{"expirationSeconds":7200}}`, r.tokens)
	answer, err := c.Expect(http.StatusCreated, http.MethodPost, r.fixture.accounts()+"/"+account+"/token", server.TypeJSON, body)
	if err != nil {
		return "", err
	}
	var request struct {
		Status struct {
			Token string `json:"token"`
		} `json:"status"`
	}
	if err := json.Unmarshal(answer, &request); err != nil {
		return "", err
	}
	return request.Status.Token, nil
}

// bindReader binds the users and the service account to the role. It is done before anything is measured,
// on a connection of its own.
func (r *roles) bindReader(name string, users ...string) error {
	c := r.fixture.session.Target.Conn()
	defer c.Close()
	_, err := r.bind(c, name, users...)
	return err
}

// bind is the Step that creates a binding of users.
// The service account is in every binding beside the users.
func (r *roles) bind(c *server.Conn, name string, users ...string) (int, error) {
	subjects := r.fixture.subject(account)
	for _, user := range users {
		subjects = fmt.Appendf(subjects, `,{"apiGroup":%q,"kind":"User","name":%q}`, r.group, user)
	}
	return r.create(c, name, subjects)
}

// create returns the size of the answer, as a Step does.
// All bindings name the one role, so only their subjects tell them apart.
func (r *roles) create(c *server.Conn, name string, subjects []byte) (int, error) {
	body := fmt.Appendf(nil, `{"apiVersion":"%s/v1","kind":"RoleBinding","metadata":{"name":%q},"subjects":[%s],"roleRef":{"apiGroup":%q,"kind":"Role","name":"reader"}}`,
		r.group, name, subjects, r.group)
	answer, err := c.Expect(http.StatusCreated, http.MethodPost, r.path("rolebindings"), server.TypeJSON, body)
	return len(answer), err
}

// addOtherBindings adds bindings of other users until there are total. None of them is for a caller, so
// each is one more that a server may have to look at in vain.
// Their names come before zz-allowed in the alphabet.
func (r *roles) addOtherBindings(ctx context.Context, there, total int) error {
	return r.fixture.fill(ctx, total-there, func(c *server.Conn, n int) (int, error) {
		n += there
		return r.create(c, fmt.Sprintf("decoy-%06d", n), fmt.Appendf(nil, `{"apiGroup":%q,"kind":"User","name":"user-%06d"}`, r.group, n))
	})
}

// changeLimit bounds the wait for a right. It is long enough for servers that look at their roles every
// few seconds.
const changeLimit = 10 * time.Second

// allowed gets a path until that is allowed, and returns how often it was refused. It retries at once:
// the right may take effect in less than a millisecond.
func (r *roles) allowed(ctx context.Context, c *server.Conn, path string) (refused int, took time.Duration, err error) {
	answered := time.Now()
	for ctx.Err() == nil {
		status, answer, err := c.Do(http.MethodGet, path, "", nil)
		// Measured at the answer, so the duration of the last request is part of it.
		took = time.Since(answered)
		switch {
		case err != nil:
			return refused, took, err
		case status == http.StatusOK:
			return refused, took, nil
		case status != http.StatusForbidden || took > changeLimit:
			return refused, took, fmt.Errorf("GET %s after %v: status %d: %s", path, took, status, server.Excerpt(answer))
		}
		// No pause: it would be the least time that could be measured.
		refused++
	}
	return refused, took, ctx.Err()
}
