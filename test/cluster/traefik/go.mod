module github.com/troupe-api/troupe/test/cluster/traefik

go 1.26.8
