package admin

import (
	"context"
	"net/http"

	"github.com/toolwarrant/toolwarrant/fault"
)

// keys gives the store of keys, if there is one.
func (c *call) keys() (KeyStore, error) {
	if c.s.opt.Keys == nil {
		return nil, fault.New(fault.Usage, "not-offered", "this server keeps no API keys")
	}
	return c.s.opt.Keys, nil
}

func listKeys(c *call) (answer, error) {
	if _, err := c.query(); err != nil {
		return answer{}, err
	}
	store, err := c.keys()
	if err != nil {
		return answer{}, err
	}
	all, err := store.List(c.ctx())
	if err != nil {
		return answer{}, err
	}
	if all == nil {
		all = []Key{}
	}
	return answer{body: map[string]any{"items": all}}, nil
}

func createKey(c *call) (act, error) {
	var in NewKey
	if err := c.read(&in); err != nil {
		return act{}, err
	}
	store, err := c.keys()
	if err != nil {
		return act{}, err
	}
	if in.Name == "" || in.ExpirySeconds < 0 {
		return act{}, fault.New(fault.Usage, "bad-value", "a key wants a name, and an expiry that is not negative").At("", "/name", 0, 0)
	}
	return act{do: func(ctx context.Context) (answer, error) { // the store leaves the record
		k, token, err := store.Create(ctx, c.who, in)
		if err != nil {
			return answer{}, err
		}
		return answer{status: http.StatusCreated, body: map[string]any{"key": k, "token": token}}, nil
	}}, nil
}

func revokeKey(c *call) (act, error) {
	id, err := c.id("id")
	if err != nil {
		return act{}, err
	}
	if err := c.readNothing(); err != nil {
		return act{}, err
	}
	store, err := c.keys()
	if err != nil {
		return act{}, err
	}
	return act{do: func(ctx context.Context) (answer, error) { // the store leaves the record
		k, err := store.Revoke(ctx, c.who, id)
		return answer{body: k}, err
	}}, nil
}

// rotateKeyring adds a master key, with which what is made from now on is made.
func rotateKeyring(c *call) (act, error) {
	if err := c.readNothing(); err != nil {
		return act{}, err
	}
	store, err := c.keys()
	if err != nil {
		return act{}, err
	}
	return act{do: func(ctx context.Context) (answer, error) { // the store leaves the record
		id, err := store.Rotate(ctx, c.who)
		return answer{body: map[string]any{"keyId": id}}, err
	}}, nil
}
