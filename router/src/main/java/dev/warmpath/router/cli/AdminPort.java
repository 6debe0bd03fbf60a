package dev.warmpath.router.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The admin port of a running router, as commands that ask it name it.
 *
 * <p>Confined to the main thread.
 */
final class AdminPort {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();

  @Option(
      names = "--admin",
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:8081",
      description = "The router's admin address; default ${DEFAULT-VALUE}.")
  private URI admin = URI.create("http://127.0.0.1:8081");

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description = "The admin key, as admin.key-file of the router holds it; its first line.")
  private @Nullable Path keyFile;

  /**
   * What it answers to a GET.
   *
   * @throws CommandException if it does not, or anything but 200
   */
  JsonNode get(String path) throws InterruptedException {
    return ask(path, "GET", HttpRequest.BodyPublishers.noBody());
  }

  /**
   * What it answers to a POST.
   *
   * @throws CommandException if it does not, or anything but 200
   */
  JsonNode post(String path, byte[] body) throws InterruptedException {
    return ask(path, "POST", HttpRequest.BodyPublishers.ofByteArray(body));
  }

  private JsonNode ask(String path, String method, HttpRequest.BodyPublisher body)
      throws InterruptedException {
    HttpResponse<byte[]> response;
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(URI.create(base() + path)).timeout(PATIENCE).method(method, body);
      if (keyFile != null) {
        request.header("authorization", "Bearer " + key(keyFile));
      }
      response = client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    } catch (IOException | IllegalArgumentException e) {
      throw CommandException.failed(
          "--admin " + admin + ": no router answers there (" + e.getClass().getSimpleName() + ")");
    }
    JsonNode answer = json(response.body());
    if (response.statusCode() != 200) {
      String why = answer.path("error").path("message").asText("no reason");
      throw CommandException.failed(admin + ": " + response.statusCode() + " " + why);
    }
    if (!answer.isObject()) {
      throw CommandException.failed("--admin " + admin + ": what answers there is no router");
    }
    return answer;
  }

  /** A proxy may serve the port below a path. */
  private String base() {
    String text = admin.toString();
    return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
  }

  /** What is not JSON, as a proxy's page, is nothing. */
  private static JsonNode json(byte[] body) {
    try {
      JsonNode read = JSON.readTree(body);
      return read == null ? JSON.missingNode() : read;
    } catch (IOException e) {
      return JSON.missingNode();
    }
  }

  private static String key(Path file) {
    try {
      return Files.readString(file).lines().findFirst().orElse("").strip();
    } catch (IOException e) {
      throw CommandException.usage("--key-file " + file + ": cannot be read");
    }
  }
}
