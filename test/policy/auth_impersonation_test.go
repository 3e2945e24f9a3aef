package policy

import (
	"strings"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

// TestAuthImpersonation: who may act as whom, and as what.
func TestAuthImpersonation(t *testing.T) {
	t.Parallel()
	r := serveUsers(t, nil, "jane=devs", "helper", "boss")
	r.grant("helper", "helper", `{"apiGroups":[""],"resources":["users"],"resourceNames":["jane","system:anonymous"],"verbs":["impersonate"]},
		{"apiGroups":[""],"resources":["groups"],"resourceNames":["devs"],"verbs":["impersonate"]},
		{"apiGroups":["authentication.platform.io"],"resources":["uids"],"resourceNames":["u1"],"verbs":["impersonate"]},
		{"apiGroups":["authentication.platform.io"],"resources":["userextras/dept/x"],"resourceNames":["eng"],"verbs":["impersonate"]}`)
	r.grant("boss", "boss", `{"apiGroups":[""],"resources":["users","groups","serviceaccounts"],"verbs":["impersonate"]}`)
	r.grant("lister", "jane", `{"apiGroups":[""],"resources":["configmaps"],"verbs":["list"]}`)

	who := func(user string, headers ...string) client.Answer {
		return r.do(user, "POST", selfReviewPath, "{}", headers...)
	}
	for _, c := range []struct {
		user    string
		headers []string
		code    int
		want    string
	}{
		{"root", []string{"Impersonate-User: someone"}, 201, `{"username":"someone","groups":["system:authenticated"]}`},
		{"root", []string{"Impersonate-User: jane", "Impersonate-Uid: u1", "Impersonate-Extra-Dept%2Fx: eng"}, 201, `{"username":"jane","uid":"u1","groups":["system:authenticated"],"extra":{"dept/x":["eng"]}}`},
		{"root", []string{"IMPERSONATE-USER: system:serviceaccount:ns:x"}, 201, `{"username":"system:serviceaccount:ns:x","groups":["system:serviceaccounts","system:serviceaccounts:ns","system:authenticated"]}`},
		{"root", []string{"Impersonate-User: a", "Impersonate-Group: g", "Impersonate-Group: system:masters"}, 201, `{"username":"a","groups":["g","system:masters","system:authenticated"]}`},
		{"root", []string{"Impersonate-Group: g"}, 400, "requested [{Group  g    }] without impersonating a user"},
		{"helper", []string{"Impersonate-User: jane"}, 201, `{"username":"jane","groups":["system:authenticated"]}`},
		{"helper", []string{"Impersonate-User: jane", "Impersonate-Group: devs", "Impersonate-Uid: u1", "Impersonate-Extra-dept%2fx: eng"}, 201, `{"username":"jane","uid":"u1","groups":["devs","system:authenticated"],"extra":{"dept/x":["eng"]}}`},
		{"helper", []string{"Impersonate-User: root"}, 403, `users \"root\" is forbidden: User \"helper\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope","reason":"Forbidden","details":{"name":"root","kind":"users"},"code":403`},
		{"helper", []string{"Impersonate-User: jane", "Impersonate-Group: system:masters"}, 403, `groups \"system:masters\" is forbidden`},
		{"helper", []string{"Impersonate-User: jane", "Impersonate-Uid: u2"}, 403, `uids.authentication.platform.io \"u2\" is forbidden`},
		{"helper", []string{"Impersonate-User: jane", "Impersonate-Extra-Dept%2Fx: hr"}, 403, `userextras.authentication.platform.io \"hr\" is forbidden: User \"helper\" cannot impersonate resource \"userextras/dept/x\"`},
		{"helper", []string{"Impersonate-User: jane", "Impersonate-Extra-Rank: eng"}, 403, `cannot impersonate resource \"userextras/rank\"`},
		{"helper", []string{"Impersonate-User: system:serviceaccount:ns:x"}, 403, `serviceaccounts \"x\" is forbidden: User \"helper\" cannot impersonate resource \"serviceaccounts\" in API group \"\" in the namespace \"ns\"`},
		{"helper", []string{"Impersonate-User: system:anonymous"}, 403, `User \"system:anonymous\" cannot create resource \"selfsubjectreviews\"`},
		{"boss", []string{"Impersonate-User: system:serviceaccount:ns:x"}, 201, `"username":"system:serviceaccount:ns:x"`},
		{"jane", []string{"Impersonate-User: jane"}, 403, `users \"jane\" is forbidden`},
		{"", []string{"Impersonate-User: jane"}, 403, `User \"system:anonymous\" cannot impersonate`},
	} {
		r.want(c.user+" "+strings.Join(c.headers, " "), who(c.user, c.headers...), c.code, c.want)
	}

	// What follows is decided for whom the caller acts as, on every way to ask.
	as := "Impersonate-User: jane"
	r.want("list as jane", r.do("helper", "GET", configMaps, "", as), 200)
	r.want("create as jane", r.do("root", "POST", configMaps, `{"metadata":{"name":"a"}}`, as), 403, `User \"jane\" cannot create resource \"configmaps\"`)
	r.want("a path as jane", r.do("root", "GET", "/metrics", "", as), 403, `User \"jane\" cannot get path \"/metrics\"`)
	r.want("watch as jane", r.do("root", "GET", configMaps+"?watch=1", "", as), 403, `User \"jane\" cannot watch`)
	r.want("a socket as jane", r.do("root", "GET", configMaps+"?watch=1", "", as, "Connection: Upgrade", "Upgrade: websocket", "Sec-Websocket-Version: 13", "Sec-Websocket-Key: dGhlIHNhbXBsZSBub25jZQ=="), 403, `User \"jane\" cannot watch`)
	r.want("review as jane", r.do("root", "POST", reviewPath+"/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"list","resource":"secrets"}}}`, as), 201, `"status":{"allowed":false}`)
}
