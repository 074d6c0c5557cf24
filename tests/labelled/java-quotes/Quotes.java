// SPDX-License-Identifier: Apache-2.0

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.Executors;

/**
 * Quotes for insurances: `java Quotes NAME PORT` starts one of the services.
 *
 * <pre>
 *   gateway --+-- rates              and when that fails
 *             +-- archive --- rates  yesterday's rates, kept up to date from the same service
 *             `-- fees               with no timeout
 * </pre>
 *
 * The client is Java's own: HTTP/2, so that it asks for an upgrade (h2c) at first.
 *
 * <p>Correct: rates are asked with a timeout; a quote from the archive says so.
 * FLAW: archive depends on the very service that has failed. FLAW: nothing limits the wait for fees.
 */
public class Quotes {
    static final HttpClient client =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(1)).build();

    record Answer(int status, String body) {}

    static Answer get(String service, String path, Duration timeout) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(System.getenv(service) + path));
        if (timeout != null) request.timeout(timeout);
        HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
        if (response.statusCode() != 200) throw new IOException(service + ": " + response.statusCode());
        return new Answer(200, response.body());
    }

    static Answer quote() throws InterruptedException {
        String rate, source = "rates";
        try {
            rate = get("RATES", "/rates/home", Duration.ofSeconds(1)).body();
        } catch (IOException unavailable) {
            try {
                source = "archive";
                rate = get("ARCHIVE", "/rates/home", Duration.ofSeconds(3)).body();
            } catch (IOException both) {
                return new Answer(503, "{\"error\": \"no rates now\"}");
            }
        }
        try {
            String fee = get("FEES", "/fees/home", null).body();
            int total = Integer.parseInt(rate.trim()) + Integer.parseInt(fee.trim());
            return new Answer(200, "{\"total\": %d, \"source\": \"%s\"}".formatted(total, source));
        } catch (IOException unavailable) {
            return new Answer(503, "{\"error\": \"no fees now\"}");
        }
    }

    static Answer archived() throws InterruptedException {
        try {
            return get("RATES", "/rates/home", Duration.ofSeconds(1));
        } catch (IOException unavailable) {
            return new Answer(502, "{\"error\": \"no rates\"}");
        }
    }

    static Answer handle(String name) throws InterruptedException {
        return switch (name) {
            case "gateway" -> quote();
            case "archive" -> archived();
            case "rates" -> new Answer(200, "300");
            default -> new Answer(200, "12");
        };
    }

    static void serve(String name, HttpExchange exchange) {
        try (exchange) {
            boolean health = exchange.getRequestURI().getPath().equals("/health");
            Answer answer = health ? new Answer(200, "{}") : handle(name);
            byte[] body = answer.body().getBytes();
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(answer.status(), body.length);
            exchange.getResponseBody().write(body);
        } catch (IOException | InterruptedException gone) {
            System.err.println(name + ": " + gone);
        }
    }

    public static void main(String[] words) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[1])), 0);
        server.setExecutor(Executors.newFixedThreadPool(8));
        server.createContext("/", exchange -> serve(words[0], exchange));
        server.start();
    }
}
