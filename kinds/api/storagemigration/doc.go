// Package storagemigration validates and defaults StorageVersionMigrations. A
// StorageVersionMigration requests that a controller rewrite all objects of a resource in the
// storage version.
package storagemigration
