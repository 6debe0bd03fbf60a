package dev.warmpath.router.logs;

import java.util.AbstractList;

/**
 * Token ids as a record's body has them, without a box for each.
 *
 * <p>Immutable, as long as nobody writes to the array.
 */
final class TokenList extends AbstractList<Long> {

  private final int[] ids;

  TokenList(int[] ids) {
    this.ids = ids;
  }

  @Override
  public Long get(int index) {
    return (long) ids[index];
  }

  @Override
  public int size() {
    return ids.length;
  }
}
