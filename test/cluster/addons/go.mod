module github.com/troupe-api/troupe/test/cluster/addons

go 1.26.0
