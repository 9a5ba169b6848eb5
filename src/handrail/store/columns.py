"""What all tables are made of. Moments are microseconds since 1970, in UTC."""

from sqlalchemy import BigInteger, Column, MetaData, Text

metadata = MetaData()


def moment(name: str, *, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=nullable)


def words(name: str, *, nullable: bool = False) -> Column[str]:
    return Column(name, Text, nullable=nullable)
