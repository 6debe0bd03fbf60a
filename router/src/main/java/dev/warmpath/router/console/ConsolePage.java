package dev.warmpath.router.console;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.CRC32C;

/**
 * The console's page, {@code GET /admin/ui}, to which {@code /} leads, and the files that it names:
 * markup, style and scripts, without any data. Only the paths that are listed here exist.
 *
 * <p>Immutable.
 */
final class ConsolePage {

  static final List<String> FILES =
      List.of(
          "console.css",
          "theme.js",
          "main.js",
          "api.js",
          "chart.js",
          "decisions.js",
          "dialogs.js",
          "dom.js",
          "engine.js",
          "explain.js",
          "fleet.js",
          "format.js",
          "history.js",
          "live.js",
          "map.js",
          "now.js",
          "prefixes.js",
          "routers.js",
          "rows.js",
          "scores.js",
          "stores.js",
          "table.js",
          "tokens.js");

  private static final String PAGE = "/admin/ui";
  private static final String FOLDER = "/dev/warmpath/router/console/";

  /** Nothing of another host, nothing inline; text can become markup nowhere. */
  private static final String POLICY =
      String.join(
          "; ",
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "connect-src 'self'",
          "img-src 'self' data:",
          "base-uri 'none'",
          "form-action 'none'",
          "frame-ancestors 'none'",
          "require-trusted-types-for 'script'",
          "trusted-types 'none'");

  private record Asset(String type, Buffer content, String tag) {}

  private final Map<String, Asset> assets = new HashMap<>();

  ConsolePage() {
    assets.put(PAGE, asset("index.html"));
    FILES.forEach(file -> assets.put(PAGE + "/" + file, asset(file)));
  }

  /** Answers a request for one of the page's files; false if it is for something else. */
  boolean answers(HttpServerRequest request) {
    boolean isRead =
        request.method().equals(HttpMethod.GET) || request.method().equals(HttpMethod.HEAD);
    if (isRead && "/".equals(request.path())) {
      request.response().setStatusCode(302).putHeader("location", PAGE).end();
      return true;
    }
    Asset asset = isRead ? assets.get(request.path()) : null;
    if (asset == null) {
      return false;
    }
    HttpServerResponse response =
        request
            .response()
            .putHeader("content-security-policy", POLICY)
            .putHeader("x-content-type-options", "nosniff")
            .putHeader("referrer-policy", "no-referrer")
            .putHeader("cache-control", "no-cache")
            .putHeader("etag", asset.tag);
    String known = request.getHeader("if-none-match");
    if (known != null && known.contains(asset.tag)) {
      response.setStatusCode(304).end();
      return true;
    }
    response.putHeader("content-type", asset.type);
    if (request.method().equals(HttpMethod.HEAD)) {
      response.putHeader("content-length", Integer.toString(asset.content.length())).end();
    } else {
      response.end(asset.content);
    }
    return true;
  }

  private static Asset asset(String file) {
    byte[] content = read(file);
    CRC32C sum = new CRC32C();
    sum.update(content);
    return new Asset(
        type(file), Buffer.buffer(content), '"' + Long.toHexString(sum.getValue()) + '"');
  }

  private static byte[] read(String file) {
    try (InputStream stream = ConsolePage.class.getResourceAsStream(FOLDER + file)) {
      return Objects.requireNonNull(stream, file).readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String type(String file) {
    String ending = file.substring(file.lastIndexOf('.') + 1);
    String kind =
        switch (ending) {
          case "html" -> "text/html";
          case "css" -> "text/css";
          default -> "text/javascript";
        };
    return kind + "; charset=utf-8";
  }
}
