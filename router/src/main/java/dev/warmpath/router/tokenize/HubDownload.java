package dev.warmpath.router.tokenize;

import dev.warmpath.router.tokenize.HubClient.Entry;
import dev.warmpath.router.tokenize.HubClient.Listing;
import dev.warmpath.router.tokenize.HubFiles.Environment;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the tokenizer files of one model into the cache. The snapshot is filled only when all of
 * them are there and checked, the tokenizer last, so that no reader finds half a model. A failed
 * request is sent once more.
 *
 * <p>Confined to the thread that downloads.
 */
final class HubDownload {

  private static final Logger LOG = LoggerFactory.getLogger(HubDownload.class);

  static final long FILE_BYTES = 256L << 20;
  static final long TOTAL_BYTES = 512L << 20;
  private static final int MOST_FILES = 64;
  private static final long PAUSE_MILLIS = 1_000;
  private static final long LONGEST_PAUSE_MILLIS = 60_000;
  private static final int BUFFER_BYTES = 1 << 16;

  /** An ETag that is a hash of the content: SHA-256 of large files, else Git's SHA-1. */
  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  private static final Pattern SHA1 = Pattern.compile("[0-9a-f]{40}");

  /** One request. */
  private interface Attempt<T> {
    T make() throws IOException, InterruptedException;
  }

  private final HubPlace place;
  private final HubCache cache;
  private final Environment environment;
  private final HubListener listener;
  private final HubClient client;
  private final long endNanos;
  private long doneBytes;
  private long totalBytes;

  HubDownload(
      HubPlace place,
      HubCache cache,
      HubSettings settings,
      Environment environment,
      HubListener listener)
      throws IOException {
    this.place = place;
    this.cache = cache;
    this.environment = environment;
    this.listener = listener;
    this.client = new HubClient(settings, place, environment.idleMillis());
    this.endNanos =
        environment.nanoClock().getAsLong()
            + TimeUnit.MILLISECONDS.toNanos(environment.totalMillis());
  }

  /** The directory with the files. */
  Path run() throws IOException, InterruptedException {
    Listing listing = retried(client::listing);
    List<Entry> entries = entries(listing);
    LOG.info("downloading {} files of {}, {} bytes", entries.size(), place, totalBytes);
    for (Entry entry : entries) {
      bring(listing.commit(), entry);
    }
    listener.show(totalBytes, totalBytes);
    for (Entry entry : entries) {
      cache.link(listing.commit(), entry.name(), entry.etag());
    }
    cache.refer(listing.commit());
    return cache.snapshot(listing.commit());
  }

  /** What is still to be brought, the tokenizer last. */
  private List<Entry> entries(Listing listing) throws IOException, InterruptedException {
    if (!listing.files().contains(HubCache.LAST)) {
      throw HubFailure.lasting(place.repository() + " has no " + HubCache.LAST);
    }
    List<String> names =
        listing.files().stream()
            .filter(ModelFiles::reads)
            .filter(name -> !Files.exists(cache.snapshot(listing.commit()).resolve(name)))
            .sorted(Comparator.comparing(HubCache.LAST::equals))
            .toList();
    bound(names.size(), MOST_FILES, "files that belong to the tokenizer");
    List<Entry> entries = new ArrayList<>();
    for (String name : names) {
      Entry entry = retried(() -> client.file(listing.commit(), name));
      bound(entry.sizeBytes(), FILE_BYTES, "bytes of " + name);
      totalBytes += Math.max(0, entry.sizeBytes());
      entries.add(entry);
    }
    bound(totalBytes, TOTAL_BYTES, "bytes in all");
    return entries;
  }

  private static void bound(long count, long most, String what) throws HubFailure {
    if (count > most) {
      throw HubFailure.lasting("%d %s, more than the %d allowed".formatted(count, what, most));
    }
  }

  private void bring(String commit, Entry entry) throws IOException, InterruptedException {
    Path blob = cache.blob(entry.etag());
    if (!Files.exists(blob)) {
      Files.createDirectories(HubCache.parent(blob));
      Path part = HubCache.temporary(blob);
      try {
        retried(() -> {
          receive(commit, entry, part);
          return part;
        });
        HubCache.move(part, blob);
      } finally {
        Files.deleteIfExists(part);
      }
    }
    doneBytes += Math.max(0, entry.sizeBytes());
    listener.show(doneBytes, totalBytes);
  }

  private void receive(String commit, Entry entry, Path part)
      throws IOException, InterruptedException {
    long limit = entry.sizeBytes() < 0 ? FILE_BYTES : entry.sizeBytes();
    long length = 0;
    byte[] buffer = new byte[BUFFER_BYTES];
    try (InputStream in = client.content(commit, entry.name());
        FileOutputStream out = new FileOutputStream(part.toFile())) {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        length += read;
        if (length > limit) {
          throw HubFailure.lasting("more than " + limit + " bytes came");
        }
        requireTime();
        out.write(buffer, 0, read);
        listener.show(Math.max(0, Math.min(doneBytes + length, totalBytes - 1)), totalBytes);
      }
      out.getFD().sync();
    }
    boolean whole = entry.sizeBytes() < 0 || length == entry.sizeBytes();
    if (!whole || !isNamed(part, length, entry.etag())) {
      throw HubFailure.passing(
          "what came of " + entry.name() + " is not what the hub names " + entry.etag());
    }
  }

  private void requireTime() throws HubFailure, InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    if (isLate()) {
      throw HubFailure.lasting("not over after " + environment.totalMillis() + " ms");
    }
  }

  private boolean isLate() {
    return environment.nanoClock().getAsLong() - endNanos >= 0;
  }

  /** What a request gives, which is sent once more if that may help. */
  private <T> T retried(Attempt<T> request) throws IOException, InterruptedException {
    try {
      return request.make();
    } catch (IOException e) {
      long wish = e instanceof HubFailure failure ? failure.waitMillis() : 0;
      boolean lasting = e instanceof HubFailure failure && !failure.isPassing();
      if (lasting || wish > LONGEST_PAUSE_MILLIS || isLate()) {
        throw e;
      }
      listener.retried();
      environment.pause().millis(Math.max(wish, PAUSE_MILLIS));
      return request.make();
    }
  }

  /** Whether the content has the hash that the hub names it by, if that is a hash. */
  private static boolean isNamed(Path file, long length, String etag) throws IOException {
    if (SHA256.matcher(etag).matches()) {
      return etag.equals(hash(file, "SHA-256", ""));
    }
    return !SHA1.matcher(etag).matches()
        || etag.equals(hash(file, "SHA-1", "blob " + length + "\0"))
        || etag.equals(hash(file, "SHA-1", ""));
  }

  private static String hash(Path file, String algorithm, String before) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      MessageDigest digest = MessageDigest.getInstance(algorithm);
      digest.update(before.getBytes(StandardCharsets.US_ASCII));
      byte[] buffer = new byte[BUFFER_BYTES];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        digest.update(buffer, 0, read);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("algorithm=" + algorithm, e);
    }
  }
}
