// SPDX-License-Identifier: Apache-2.0

// Command trips books a trip: `trips NAME PORT` starts one of its services.
//
//	booking --+-- flights    side by side with
//	          +-- hotels     a trip without a hotel says so
//	          +-- seats      POST /holds, taken back by DELETE /holds/ID when paying fails
//	          +-- payments   POST /charges
//	          `-- points     POST /points for the customer, tried again at once, not needed
//
// Correct: a deadline for the whole request and one for each call; seats are given back.
// FLAW: an answer of flights that is not there is used all the same: the handler panics.
// FLAW: points are tried again at once, after anything, so a lost answer credits them twice.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"
)

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}

func call(ctx context.Context, method, url string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, 800*time.Millisecond)
	defer cancel()
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	defer io.Copy(io.Discard, response.Body)
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(out)
}

type flight struct{ Seat string }
type hotel struct{ Name string }
type hold struct{ ID string }
type empty struct{}

func find(ctx context.Context) (fl *flight, ho *hotel) {
	var both sync.WaitGroup
	both.Add(2)
	go func() {
		defer both.Done()
		var found flight
		if call(ctx, "GET", os.Getenv("FLIGHTS")+"/flights/oslo", nil, &found) == nil {
			fl = &found
		}
	}()
	go func() {
		defer both.Done()
		var found hotel
		if call(ctx, "GET", os.Getenv("HOTELS")+"/hotels/oslo", nil, &found) == nil {
			ho = &found
		}
	}()
	both.Wait()
	return fl, ho
}

func credit(ctx context.Context) bool {
	for try := 0; try < 2; try++ {
		if call(ctx, "POST", os.Getenv("POINTS")+"/points", map[string]int{"points": 10}, &empty{}) == nil {
			return true
		}
	}
	return false
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(body)
}

func book(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	fl, ho := find(ctx)
	var held hold
	if err := call(ctx, "POST", os.Getenv("SEATS")+"/holds", fl.Seat, &held); err != nil { // the flaw: fl may be nil
		answer(w, 503, map[string]string{"error": "no seat now"})
		return
	}
	if err := call(ctx, "POST", os.Getenv("PAYMENTS")+"/charges", 200, &empty{}); err != nil {
		call(ctx, "DELETE", os.Getenv("SEATS")+"/holds/"+held.ID, nil, &empty{})
		answer(w, 503, map[string]string{"error": "payment is not possible now"})
		return
	}
	trip := map[string]any{"seat": fl.Seat, "hotel": nil, "credited": credit(ctx)}
	if ho != nil {
		trip["hotel"] = ho.Name
	}
	answer(w, 201, trip)
}

func main() {
	name, port := os.Args[1], os.Args[2]
	fixed := func(body any) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { answer(w, 200, body) }
	}
	handlers := map[string]http.HandlerFunc{
		"booking":  book,
		"flights":  fixed(flight{"12A"}),
		"hotels":   fixed(hotel{"Grand"}),
		"seats":    fixed(hold{"h7"}),
		"payments": fixed(empty{}),
		"points":   fixed(empty{}),
	}
	http.HandleFunc("/", handlers[name])
	http.HandleFunc("/health", fixed(empty{}))
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, nil))
}
