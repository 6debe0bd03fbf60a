package dev.warmpath.router.tokenize.hub;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.tokenize.hub.HubHttp.Exchange;
import dev.warmpath.router.tokenize.hub.HubHttp.Pieces;
import dev.warmpath.router.tokenize.hub.HubHttp.Watch;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpHeaders;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpResponse.BodySubscriber;
import java.net.http.HttpResponse.BodySubscribers;
import java.net.http.HttpResponse.ResponseInfo;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One repository of the hub, as its protocol is documented: a list of files at a commit, and of
 * each file its ETag, its size and its content.
 *
 * <p>Confined to the thread that downloads.
 */
final class HubRepository {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int LIST_BYTES = 16 << 20;
  private static final Pattern ETAG = Pattern.compile("(?:W/)?\"?([A-Za-z0-9][\\w.-]{0,127})\"?");
  private static final Pattern CONTENT_RANGE =
      Pattern.compile("bytes ([0-9]{1,18})-[0-9]{1,18}/(?:[0-9]{1,18}|\\*)");

  /** The files of one commit. */
  record Listing(String commit, List<String> files) {}

  /**
   * A file of a commit.
   *
   * @param etag says what is in it, and names it in the cache
   * @param sizeBytes -1 if the hub does not tell
   */
  record Entry(String name, String etag, long sizeBytes) {}

  private final HubHttp http;
  private final HubPlace place;
  private final Watch watch;

  HubRepository(HubHttp http, HubPlace place, BooleanSupplier isLate) {
    this.http = http;
    this.place = place;
    this.watch = new Watch(() -> 0, isLate);
  }

  /** What the revision holds now. */
  Listing listing() throws IOException, InterruptedException {
    String path = "/api/models/" + place.repository() + "/revision/" + place.revision();
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    HttpResponse<Boolean> response =
        http.send(
            "GET",
            path,
            Map.of(),
            new Exchange<>(info -> new Pieces(new Bounded(body)), watch, all -> false));
    check(response, "list of files");
    JsonNode read = json(body.toByteArray());
    String commit = read.path("sha").asText();
    if (!HubCache.isCommit(commit)) {
      throw notAHub();
    }
    List<String> files = new ArrayList<>();
    read.path("siblings").forEach(file -> files.add(file.path("rfilename").asText()));
    return new Listing(commit, files);
  }

  private JsonNode json(byte[] body) throws IOException {
    try {
      return JSON.readTree(body);
    } catch (JsonProcessingException e) {
      throw notAHub();
    }
  }

  private HubFailure notAHub() {
    return HubFailure.lasting(http.endpoint().getHost() + " does not answer as a hub does");
  }

  /** Keeps a list of files, which follows redirects and has a bound. */
  private record Bounded(ByteArrayOutputStream to) implements Pieces.Sink {
    @Override
    public void take(List<ByteBuffer> pieces) throws HubFailure {
      for (ByteBuffer piece : pieces) {
        if (to.size() + piece.remaining() > LIST_BYTES) {
          throw HubFailure.lasting("the list of files is longer than " + LIST_BYTES + " bytes");
        }
        byte[] bytes = new byte[piece.remaining()];
        piece.get(bytes);
        to.writeBytes(bytes);
      }
    }
  }

  /** What is known of a file before it is fetched. */
  Entry file(String commit, String name) throws IOException, InterruptedException {
    HttpResponse<Void> response =
        http.send(
            "HEAD",
            path(commit, name),
            Map.of(),
            new Exchange<>(BodyHandlers.discarding(), watch, HubRepository::isLinked));
    HttpHeaders headers = response.headers();
    if (!isLinked(headers)) {
      check(response, name);
    }
    String etag =
        headers.firstValue("X-Linked-Etag").or(() -> headers.firstValue("ETag")).orElse("");
    Matcher named = ETAG.matcher(etag);
    if (!named.matches()) {
      throw HubFailure.lasting("the hub gives no usable ETag for " + name);
    }
    String size = isLinked(headers) ? "X-Linked-Size" : "Content-Length";
    return new Entry(name, named.group(1), headers.firstValueAsLong(size).orElse(-1));
  }

  /** The answer speaks of a file that is stored elsewhere. */
  private static boolean isLinked(HttpHeaders headers) {
    return headers.firstValue("X-Linked-Etag").isPresent();
  }

  /** Brings what {@code to} still lacks of the file. */
  void fetch(String commit, Entry file, PartialFile to) throws IOException, InterruptedException {
    if (to.length() > 0 && to.length() == file.sizeBytes()) {
      return;
    }
    HttpResponse<Boolean> response =
        http.send(
            "GET",
            path(commit, file.name()),
            rest(to),
            new Exchange<>(into(to), new Watch(to::length, watch.isLate()), all -> false));
    if (response.statusCode() == 416) {
      to.clear();
      throw HubFailure.passing("what was there of " + file.name() + " is of no use");
    }
    check(response, file.name());
    if (!response.body()) {
      throw HubFailure.passing(file.name() + " came from another place than was asked for");
    }
    if (to.length() < file.sizeBytes()) {
      throw HubFailure.passing("only " + to.length() + " bytes of " + file.name() + " came");
    }
  }

  private static Map<String, String> rest(PartialFile of) {
    if (of.length() == 0) {
      return Map.of();
    }
    String range = "bytes=" + of.length() + "-";
    return of.validator().isEmpty()
        ? Map.of("Range", range)
        : Map.of("Range", range, "If-Range", of.validator());
  }

  /** Takes a whole file, or the rest of one. */
  private static BodyHandler<Boolean> into(PartialFile to) {
    return info -> {
      try {
        BodySubscriber<Boolean> taken = taken(info, to);
        return taken == null ? BodySubscribers.replacing(false) : taken;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  private static @Nullable BodySubscriber<Boolean> taken(ResponseInfo info, PartialFile to)
      throws IOException {
    if (info.statusCode() == 200) {
      to.validator(info.headers().firstValue("ETag").orElse(""));
      return to.from(0);
    }
    if (info.statusCode() != 206) {
      return null;
    }
    Matcher range = CONTENT_RANGE.matcher(info.headers().firstValue("Content-Range").orElse(""));
    if (range.matches() && Long.parseLong(range.group(1)) == to.length()) {
      return to.from(to.length());
    }
    to.clear();
    return null;
  }

  private String path(String commit, String name) {
    return "/" + place.repository() + "/resolve/" + commit + "/" + name;
  }

  private void check(HttpResponse<?> response, String what) throws HubFailure {
    int status = response.statusCode();
    if (status != 200 && status != 206) {
      throw HubFailure.of(response, place, http.hasToken(), what);
    }
  }
}
