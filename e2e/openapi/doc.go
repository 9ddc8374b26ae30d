// Package openapi tests the client that oapi-codegen generates from the OpenAPI document.
//
// The client is not kept: tools.test.js generates it for each run and lays it over this
// directory as client.gen.go, so only there does this package compile with its test. The
// imports are those of the generated code; they keep its module in go.mod.
package openapi

import (
	_ "github.com/oapi-codegen/runtime"
	_ "github.com/oapi-codegen/runtime/types"
)
