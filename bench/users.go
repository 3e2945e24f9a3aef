package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// users assigns one of the users of --users to each connection. A user's token equals the user's
// name. No user is an administrator, because administrators are exempt from per-user limits.
type users struct {
	total int64
	next  atomic.Int64
}

const userGroup = "bench-users"

func userName(n int64) string { return fmt.Sprintf("bench-user-%06d", n) }

func (u *users) pick() string { return userName(u.next.Add(1) % u.total) }

func writeUsers(path string, total int) error {
	var lines bytes.Buffer
	for n := range int64(total) {
		fmt.Fprintf(&lines, "%s,%s,,%s\n", userName(n), userName(n), userGroup)
	}
	return os.WriteFile(path, lines.Bytes(), 0o600)
}

// use grants all permissions to the users of --users, and makes connections authenticate as them.
// total is the number of users.
func (t *Target) use(total int) error {
	group, err := t.group("rbac.authorization")
	if err != nil {
		return err
	}
	admin := t.Conn()
	defer admin.Close()
	if _, err := admin.Call(post("/apis/"+group+"/v1/clusterrolebindings", `{"apiVersion":"%s/v1","kind":"ClusterRoleBinding","metadata":{"name":%q},`+
		`"roleRef":{"apiGroup":%q,"kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"apiGroup":%q,"kind":"Group","name":%q}]}`,
		group, userGroup, group, group, userGroup)); err != nil {
		return err
	}
	t.TLS = t.TLS.Clone()
	t.TLS.Certificates, t.users = nil, &users{total: int64(total)}
	c := t.Conn()
	defer c.Close()
	for end := time.Now().Add(requestTimeout); time.Now().Before(end); time.Sleep(tick) {
		if status, _, err := c.Do(get("/api/v1/namespaces")); err != nil || status == http.StatusOK {
			return err
		}
	}
	return errors.New("the users of --users are not allowed to list namespaces")
}
