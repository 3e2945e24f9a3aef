package api

import (
	"slices"
	"testing"

	"github.com/troupe-api/troupe/test/client"
)

func TestManyAppliersNeverConflict(t *testing.T) {
	t.Parallel()
	s := applySession{client.Open(t, nil)}
	path := configMaps + "/a"
	done := make(chan string)
	names := []string{"a", "b", "c", "d", "e", "f", "g", "h"}
	for _, name := range names {
		go func() {
			for range 5 {
				answer, err := s.Do(s.Ctx, "PATCH", path+"?fieldManager="+name, applyTypeApply, []byte(configMap("a", `"`+name+`":"1"`)))
				if err != nil || answer.Code != 200 && answer.Code != 201 {
					done <- answer.String()
					return
				}
			}
			done <- ""
		}()
	}
	for range names {
		if fault := <-done; fault != "" {
			t.Error(fault)
		}
	}
	var want []string
	for _, name := range names {
		want = append(want, name+` Apply {"f:data":{"f:`+name+`":{}}}`)
	}
	slices.Sort(want)
	s.owned(s.get(path), want...)
}
