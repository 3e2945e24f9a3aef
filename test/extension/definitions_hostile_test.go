package extension

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
	"github.com/troupe-api/troupe/test/client"
)

// TestHostile creates CRDs that are malformed or expensive to process. Each request must get the
// expected status code, and accepted CRDs must be usable and deletable.
func TestHostile(t *testing.T) {
	t.Parallel()
	s := client.Open(t, func(c *daemon.Config) { c.Naming = "kubernetes" })
	for _, c := range readEdits(t, "hostile.txt", true) {
		code, name, _ := strings.Cut(c.title, " ")
		t.Run(name, func(t *testing.T) {
			o := edited(t, c.edits)
			answer, err := s.Do(s.Ctx, "POST", path, client.JSON, []byte(o.json()))
			if err != nil {
				t.Fatal(err)
			}
			if strconv.Itoa(answer.Code) != code {
				t.Errorf("%.400s, want %s", answer.String(), code)
			}
			if answer.Code != 201 {
				return
			}
			objects := "/apis/example.com/v1/namespaces/default/gadgets"
			s.Send(201, "POST", objects, client.JSON, `{"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"a"},"spec":{"color":"a1"}}`)
			s.GetAs(s.Ctx, objects, "application/json;as=Table;g=meta.k8s.io;v=v1")
			s.Send(200, "GET", "/openapi/v3/apis/example.com/v1", "", "")
			s.Send(200, "GET", "/apis/example.com/v1", "", "")
			s.Send(200, "DELETE", path+"/gadgets.example.com", "", "")
			client.Eventually(t, func() error {
				if answer, err := s.Do(s.Ctx, "GET", objects, "", nil); err != nil || answer.Code != 404 {
					return fmt.Errorf("%d, %v", answer.Code, err)
				}
				return nil
			})
		})
	}
}
