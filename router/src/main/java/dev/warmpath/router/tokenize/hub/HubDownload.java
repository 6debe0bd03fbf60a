package dev.warmpath.router.tokenize.hub;

import dev.warmpath.router.tokenize.hub.HubFiles.Around;
import dev.warmpath.router.tokenize.hub.HubRepository.Entry;
import dev.warmpath.router.tokenize.hub.HubRepository.Listing;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the tokenizer files of one model into the cache. The snapshot is filled only when all of
 * them are there and checked, and the tokenizer comes last, so nobody finds half a model.
 *
 * <p>Confined to the thread that downloads.
 */
final class HubDownload {

  private static final Logger LOG = LoggerFactory.getLogger(HubDownload.class);

  static final long FILE_BYTES = 256L << 20;
  static final long TOTAL_BYTES = 512L << 20;
  private static final int MOST_FILES = 64;

  private final HubPlace place;
  private final HubCache cache;
  private final Around around;
  private final HubListener listener;
  private final Retries retries;
  private final HubRepository repository;
  private long doneBytes;
  private long totalBytes;

  HubDownload(
      HubPlace place, HubCache cache, HubSettings settings, Around around, HubListener listener)
      throws IOException {
    this.place = place;
    this.cache = cache;
    this.around = around;
    this.listener = listener;
    this.retries =
        new Retries(around.nanoClock(), around.pause(), around.totalMillis(), listener::retried);
    this.repository =
        new HubRepository(new HubHttp(settings, around.idleMillis()), place, retries::isLate);
  }

  /** The directory with the files. */
  Path run() throws IOException, InterruptedException {
    try (HubLock lock = HubLock.take(cache.lockFile(), retries)) {
      Path found = cache.find();
      return found == null ? download(lock.isAlone()) : found;
    }
  }

  private Path download(boolean alone) throws IOException, InterruptedException {
    Listing listing = retries.call(repository::listing, () -> 0);
    List<Entry> entries = entries(listing);
    LOG.info("downloading {} files of {}, {} bytes", entries.size(), place, totalBytes);
    for (Entry entry : entries) {
      bring(listing.commit(), entry, alone);
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
    return entries(listing.commit(), names);
  }

  private List<Entry> entries(String commit, List<String> names)
      throws IOException, InterruptedException {
    List<Entry> entries = new ArrayList<>();
    for (String name : names) {
      Entry entry = retries.call(() -> repository.file(commit, name), () -> 0);
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

  private void bring(String commit, Entry entry, boolean alone)
      throws IOException, InterruptedException {
    Path blob = cache.blob(entry.etag());
    if (!Files.exists(blob)) {
      makeRoom(HubCache.parent(blob), entry);
      fetch(commit, entry, blob, alone);
    }
    doneBytes += Math.max(0, entry.sizeBytes());
    listener.show(doneBytes, totalBytes);
  }

  private void makeRoom(Path directory, Entry entry) throws IOException {
    Files.createDirectories(directory);
    long free = around.freeBytes().applyAsLong(directory);
    if (free < entry.sizeBytes()) {
      throw HubFailure.lasting(
          "%s is full: %s needs %d bytes, %d are free"
              .formatted(directory, entry.name(), entry.sizeBytes(), free));
    }
  }

  private void fetch(String commit, Entry entry, Path blob, boolean alone)
      throws IOException, InterruptedException {
    String mark = alone ? ".warmpath" : ".warmpath-" + ProcessHandle.current().pid();
    Path part = blob.resolveSibling(entry.etag() + mark + ".incomplete");
    long limit = entry.sizeBytes() < 0 ? FILE_BYTES : entry.sizeBytes();
    try (PartialFile file =
        new PartialFile(part, limit, length -> listener.show(shown(length), totalBytes))) {
      if (file.length() > limit || !PartialFile.isHash(entry.etag())) {
        file.clear();
      }
      retries.call(
          () -> {
            repository.fetch(commit, entry, file);
            check(entry, file);
            return file;
          },
          file::length);
      file.become(blob);
    }
  }

  /** Never all before all is checked. */
  private long shown(long length) {
    return Math.max(0, Math.min(doneBytes + length, totalBytes - 1));
  }

  private static void check(Entry entry, PartialFile file) throws IOException {
    if (!file.holds(entry.sizeBytes(), entry.etag())) {
      file.clear();
      throw HubFailure.passing(
          "what came of " + entry.name() + " is not what the hub names " + entry.etag());
    }
  }
}
