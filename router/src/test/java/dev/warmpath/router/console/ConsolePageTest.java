package dev.warmpath.router.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.Rig;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The console's files, over sockets. */
class ConsolePageTest {

  @TempDir private Path folder;

  @Test
  void eachFileIsServedWithItsTypeAndTheHeadersThatKeepThePageToItself() throws Exception {
    try (Rig rig = new Rig(1)) {
      check(get(rig, "/admin/ui"), "text/html; charset=utf-8");
      for (String file : ConsolePage.FILES) {
        check(
            get(rig, "/admin/ui/" + file),
            file.endsWith(".css") ? "text/css; charset=utf-8" : "text/javascript; charset=utf-8");
      }
    }
  }

  @Test
  void theRootLeadsThere() throws Exception {
    try (Rig rig = new Rig(1)) {
      HttpResponse<byte[]> answer = get(rig, "/");
      assertThat(answer.statusCode()).isEqualTo(302);
      assertThat(header(answer, "location")).isEqualTo("/admin/ui");
    }
  }

  private static void check(HttpResponse<byte[]> answer, String type) {
    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isNotEmpty();
    assertThat(header(answer, "content-type")).isEqualTo(type);
    assertThat(header(answer, "content-security-policy"))
        .startsWith("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'")
        .contains("base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'")
        .contains("require-trusted-types-for 'script'")
        .doesNotContain("unsafe", "http:", "https:", "*");
    assertThat(header(answer, "x-content-type-options")).isEqualTo("nosniff");
    assertThat(header(answer, "referrer-policy")).isEqualTo("no-referrer");
    assertThat(header(answer, "cache-control")).isEqualTo("no-cache");
    assertThat(header(answer, "etag")).matches("\"[0-9a-f]+\"");
  }

  @Test
  void everyFileOfTheFolderIsListedAndNothingNamesAnotherHost() throws Exception {
    URI page =
        Objects.requireNonNull(
                ConsolePage.class.getResource("/dev/warmpath/router/console/index.html"))
            .toURI();
    try (Stream<Path> files = Files.list(Path.of(page).getParent())) {
      List<Path> assets =
          files.filter(file -> file.toString().matches(".*\\.(html|css|js)")).toList();
      assertThat(assets)
          .extracting(file -> file.getFileName().toString())
          .containsAll(ConsolePage.FILES)
          .hasSize(ConsolePage.FILES.size() + 1);
      for (Path asset : assets) {
        String text = Files.readString(asset);
        assertThat(text.replace("http://www.w3.org/2000/svg", ""))
            .as(asset.toString())
            .doesNotContain("http:", "https:", "innerHTML", "outerHTML", "insertAdjacentHTML")
            .doesNotContain("document.write", "eval(", "style=\"", " onclick=\"");
        assertThat(text.lines().count()).as(asset.toString()).isLessThanOrEqualTo(300);
      }
    }
  }

  @Test
  void aFileThatIsKnownIsNotSentAgain() throws Exception {
    try (Rig rig = new Rig(1)) {
      String tag = header(get(rig, "/admin/ui/main.js"), "etag");
      HttpResponse<byte[]> again = get(rig, "/admin/ui/main.js", "if-none-match", tag);
      assertThat(again.statusCode()).isEqualTo(304);
      assertThat(again.body()).isEmpty();
      assertThat(header(again, "etag")).isEqualTo(tag);
      assertThat(get(rig, "/admin/ui/main.js", "if-none-match", "\"0\"").statusCode())
          .isEqualTo(200);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/admin/ui/",
        "/admin/ui/index.html",
        "/admin/ui/../console/main.js",
        "/admin/ui/../../../../logback.xml",
        "/admin/ui/..%2f..%2f..%2f..%2flogback.xml",
        "/admin/ui/%2e%2e/%2e%2e/logback.xml",
        "/admin/ui//main.js",
        "/admin/ui/main.js%00",
        "/admin/ui/main.js/",
        "/admin/ui/Console.class",
        "/admin/ui/../admin/ConsolePage.class"
      })
  void nothingElseIsServed(String path) throws Exception {
    try (Rig rig = new Rig(1)) {
      assertThat(raw(rig, "GET " + path)).contains(" 404 ");
    }
  }

  @Test
  void theFilesNeedNoKeyAndTheDataDo() throws Exception {
    Path key = Certificates.replace(folder.resolve("admin-key"), "a-key-of-operators\n");
    try (Rig rig = new Rig(1, tree -> tree.set("admin.key-file", key.toString(), "test"))) {
      assertThat(raw(rig, "GET /admin/ui")).contains(" 200 ");
      assertThat(raw(rig, "GET /admin/ui/main.js")).contains(" 200 ");
      assertThat(raw(rig, "GET /admin/fleet")).contains(" 401 ");
      assertThat(raw(rig, "POST /admin/ui")).contains(" 401 ");
    }
  }

  @Test
  void headersComeWithoutAFileToo() throws Exception {
    try (Rig rig = new Rig(1)) {
      String answer = raw(rig, "HEAD /admin/ui").toLowerCase(Locale.ROOT);
      int length = get(rig, "/admin/ui").body().length;
      assertThat(answer).contains(" 200 ", "content-length: " + length).endsWith("\r\n\r\n");
    }
  }

  private static String raw(Rig rig, String asked) throws Exception {
    try (RawClient client = new RawClient(rig.router.adminPort())) {
      client.write(
          asked + " HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
      return client.readToEnd();
    }
  }

  private static String header(HttpResponse<byte[]> answer, String name) {
    return answer.headers().firstValue(name).orElse("");
  }

  private static HttpResponse<byte[]> get(Rig rig, String path, String... headers)
      throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + rig.router.adminPort() + path);
    HttpRequest.Builder request = HttpRequest.newBuilder(uri);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return rig.send(request.build());
  }
}
