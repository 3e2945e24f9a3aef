package controllers

import (
	"log/slog"

	"github.com/troupe-api/troupe/actors/controllers/internal/reconcile"
	"github.com/troupe-api/troupe/kinds/catalog"
)

// Store is the part of actors.Store that controllers use.
type Store = reconcile.Store

// Env holds the dependencies of controllers.
type Env = reconcile.Env

// NewEnv returns an Env whose controllers write to store.
func NewEnv(store Store, kinds *catalog.Catalog, logger *slog.Logger) *Env {
	return reconcile.NewEnv(store, kinds, logger)
}
