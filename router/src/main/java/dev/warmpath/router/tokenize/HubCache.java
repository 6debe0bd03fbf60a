package dev.warmpath.router.tokenize;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One model in the cache that Hugging Face's own tools keep, which may be mounted from elsewhere.
 *
 * <p>Thread-safe: files appear in it whole.
 */
final class HubCache {

  // models--ORGANISATION--NAME/
  //   blobs/ETAG                      the content
  //   snapshots/COMMIT/FILE           a link to it
  //   refs/REVISION                   the commit of a branch or tag

  /** Written last, so where it is the rest is too. */
  static final String LAST = "tokenizer.json";

  private static final Pattern COMMIT = Pattern.compile("[0-9a-f]{40}");

  private final HubPlace place;
  private final Path model;

  HubCache(Path root, HubPlace place) {
    this.place = place;
    this.model = root.resolve(place.folder());
  }

  static boolean isCommit(String text) {
    return COMMIT.matcher(text).matches();
  }

  /** The directory with the model's files, or null if there is no tokenizer in it. */
  @Nullable Path find() {
    Path snapshot = snapshot(commit());
    return Files.isRegularFile(snapshot.resolve(LAST)) ? snapshot : null;
  }

  private String commit() {
    Path reference = model.resolve("refs").resolve(place.revision());
    if (isCommit(place.revision()) || !Files.isRegularFile(reference)) {
      return place.revision();
    }
    try {
      String commit = Files.readString(reference).strip();
      return isCommit(commit) ? commit : place.revision();
    } catch (IOException e) {
      return place.revision();
    }
  }

  Path snapshot(String commit) {
    return model.resolve("snapshots").resolve(commit);
  }

  Path blob(String etag) {
    return model.resolve("blobs").resolve(etag);
  }

  /** Makes the blob the file of this name in the snapshot, by a link or else by a copy. */
  void link(String commit, String file, String etag) throws IOException {
    Path link = snapshot(commit).resolve(file);
    if (Files.exists(link)) {
      return;
    }
    Files.createDirectories(parent(link));
    Files.deleteIfExists(link);
    try {
      Files.createSymbolicLink(link, parent(link).relativize(blob(etag)));
    } catch (FileAlreadyExistsException e) {
      // another process was faster
    } catch (UnsupportedOperationException | IOException e) {
      Path copy = temporary(link);
      Files.copy(blob(etag), copy);
      move(copy, link);
    }
  }

  /** Writes down which commit the revision is. */
  void refer(String commit) throws IOException {
    if (place.revision().equals(commit)) {
      return;
    }
    Path reference = model.resolve("refs").resolve(place.revision());
    Files.createDirectories(parent(reference));
    Path written = temporary(reference);
    Files.writeString(written, commit);
    move(written, reference);
  }

  /** A name beside the file, for what becomes it by a rename. */
  static Path temporary(Path file) {
    return file.resolveSibling(file.getFileName() + "." + UUID.randomUUID() + ".tmp");
  }

  static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  static Path parent(Path file) {
    Path parent = file.getParent();
    if (parent == null) {
      throw new IllegalStateException("no directory above file=" + file);
    }
    return parent;
  }
}
