package http_test

import "testing"

func TestConvertedList(t *testing.T) {
	f := serve(t, nil)
	for _, name := range []string{"a", "b", "c"} {
		f.do("POST", configMapsPath, `{"metadata":{"name":"`+name+`"}}`)
	}
	f.store.mu.Lock()
	f.store.converted = true
	f.store.mu.Unlock()
	f.store.conversions.Store(0)
	f.store.failAt.Store(1)
	for _, accept := range []string{
		"application/json", "application/yaml", "application/vnd.platform.protobuf", "application/json;as=Table;g=meta.platform.io;v=v1",
		"application/json;as=PartialObjectMetadataList;g=meta.platform.io;v=v1",
	} {
		if resp, body := f.do("GET", configMapsPath, "", "Accept", accept); resp.StatusCode != 200 {
			t.Errorf("%s: %d %s", accept, resp.StatusCode, body)
		}
	}
	if n := f.store.conversions.Load(); n != 0 {
		t.Errorf("%d objects were converted again", n)
	}
}
